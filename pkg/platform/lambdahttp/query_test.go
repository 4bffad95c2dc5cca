package lambdahttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
	"toggleadmin/test/helper/assert"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		query string
		want  string // values, or what the error says about the first parameter
	}{
		{"", ", up, [], 0001-01-01, 7"},
		{"text=äöü&sort=down&many=IS:a,b&day=IS:2026-11-22&number=9&other=1", "äöü, down, IS [a,b], 2026-11-22, 9"},
		{"many=ANY_OF:a,b&number=0", ", up, ANY_OF [a b], 0001-01-01, 0"},
		{"text=äöüß", `text must have at most 3 characters; you sent "äöüß"`},
		{"text=a&text=b", `text must be sent once; you sent "a and b"`},
		{"sort=UP", `sort must be up or down; you sent "UP"`},
		{"many=a", `many must begin with IS: or ANY_OF: and have a value; you sent "a"`},
		{"many=IS:", `many must begin with IS: or ANY_OF: and have a value; you sent "IS:"`},
		{"many=ANY_OF:" + strings.Repeat("x,", 99) + "a,b", `many must have at most 100 values; you sent "ANY_OF:`},
		{"many=ANY_OF:a,,b", `many must not have an empty value; you sent "ANY_OF:a,,b"`},
		{"day=IS:2026-02-30", `day must be IS: and a date such as 2026-11-22; you sent "IS:2026-02-30"`},
		{"day=IS:0000-01-01", "day must be IS: and a date such as 2026-11-22; you sent"},
		{"time=2026-11-22", `time must be an RFC 3339 date-time with an offset or Z; you sent "2026-11-22"`},
		{"number=10", `number must be an integer from 0 to 9; you sent "10"`},
		{"number=-1", `number must be an integer from 0 to 9; you sent "-1"`},
		{"number=%2B1", `number must be an integer from 0 to 9; you sent "+1"`},
	} {
		values, err := url.ParseQuery(test.query)
		assert.OK(t, err)
		q := lambdahttp.NewQuery(httptest.NewRequest(http.MethodGet, "/", nil).WithContext(
			apigateway.WithRequest(t.Context(), apigateway.Request{Query: values})))
		q.Time("time")
		operator, many := q.Values("many", "IS", "ANY_OF")
		_, day := q.Day("day", "IS")
		got := fmt.Sprintf("%s, %s, %s, %s, %d", q.Text("text", 3), q.OneOf("sort", "up", "down"),
			strings.TrimSpace(fmt.Sprint(operator, " ", many)), day.Format("2006-01-02"), q.Number("number", 7, 0, 9))
		if err := q.Err(); err != nil {
			got = strings.NewReplacer("The `/query/", "", "` parameter", "").Replace(apierror.From(err).Message)
		}
		if !strings.HasPrefix(got, test.want) || strings.Count(got, ";") > 1 {
			t.Errorf("%s: %s", test, got)
		}
	}
}
