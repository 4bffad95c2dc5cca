package user_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/test/helper/assert"
)

func TestPathID(t *testing.T) {
	t.Parallel()
	pathID := func(text string) (int64, error) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetPathValue("id", text)
		return user.PathID(r)
	}
	for text, want := range map[string]int64{
		"1":               1,
		"1234567890":      1234567890,
		"2147483647":      2147483647,
		"1e+06":           1000000,
		"1.000001e+06":    1000001,
		"2.147483647e+09": 2147483647,
	} {
		id, err := pathID(text)
		assert.OK(t, err)
		assert.Equal(t, want, id)
	}
	for _, text := range []string{
		"", " 1", "1 ", "4\n", "1\x00", "1" + strings.Repeat("0", 254),
		"0", "00", "01", "04", "-1", "-4", "+1", "+4", "0x1", "0x4", "1_0", "4_0", "1a", "null", "١", "٤", "１",
		"4.0", "4e0", "4e+00", "4.000E-0", "0.4e1", "40e-1", "1e2", "1e+02", "999999.0", "9.99999e+05", "1e6", "1E+06", "1e+6",
		"1.0e+06", "10e+05", "1000000.0", "2.147483647e9", "2.147483648e+09", "1.0000005e+06", "0x1p+20", "1_000_000",
		"inf", "+Inf", "NaN", "0e5", "4.", ".4", "4e", "4e1.0", "4e+", "4.5", "4.0000000000000000000000001", "4e-1",
		"2147483648", "4294967297", "18446744073709551617", "2147483647.5", "1e10",
		"1e999999999999999999999", "1e-999999999999999999999", "0e999999999999999999999",
	} {
		_, err := pathID(text)
		assert.Equal(t, apierror.NotFound, apierror.KindOf(err))
	}
}
