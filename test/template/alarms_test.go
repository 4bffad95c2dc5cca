package template_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toggleadmin/pkg/samtemplate"
	"toggleadmin/test/helper/assert"
)

// datum is what CloudWatch has of a metric in a minute or a longer period.
type datum struct{ sum, count, max float64 }

// minute has the metrics of a minute by name and first dimension, such as "Errors ClientFunction".
type minute map[string]datum

func (m minute) count(metric string, n float64) { m[metric] = datum{n, n, 1} }

func (m minute) value(metric string, v float64) { m[metric] = datum{v, 1, v} }

// requests are requests to the API, of which some fail.
func (m minute) requests(all, failed float64) {
	m.count("Count local", all)
	m["5XXError local"] = datum{failed, all, 1}
}

// healthy returns a minute of a service whose parts are all used, with 10 requests to the API and 8 of applications.
func healthy() minute {
	m := minute{}
	m.requests(10, 0)
	m.count("UrlRequestCount ClientFunction", 8)
	for function, invocations := range map[string]float64{
		"AuthorizerFunction": 10, "RecordTrafficFunction": 1, "SweepStalenessFunction": 1, "SweepSnapshotsFunction": 1,
		"SweepUsageFunction": 1, "SweepChangeRequestsFunction": 1, "CompileSnapshotsFunction": 1, "PublishEventsFunction": 1,
	} {
		m.count("Invocations "+function, invocations)
		m["Errors "+function] = datum{0, invocations, 0}
	}
	m.count("IncomingLogEvents AccessLogs", 10)
	m.count("recentEvents SweepSnapshotsFunction", 4)
	return m
}

// TestWhenAlarmsRing computes from the expressions of the template which alarms ring within a quarter of an hour after
// a failure begins, and after how many minutes. CloudWatch evaluates an alarm each minute, over the last periods.
// Metrics arrive up to two minutes later, which is not included.
func TestWhenAlarmsRing(t *testing.T) {
	t.Parallel()
	const withinMinutes = 15
	all := simulated(t)
	for name, row := range map[string]struct {
		fail func(m minute, after int)
		want string
	}{
		"nothing fails": {func(minute, int) {}, ""},
		"no requests": {func(m minute, _ int) {
			for metric := range m {
				if !strings.HasPrefix(metric, "Invocations Sweep") {
					delete(m, metric)
				}
			}
		}, ""},
		"snapshots: stream and sweep fail": {func(m minute, after int) {
			m.count("Errors SweepSnapshotsFunction", 1)
			m.value("IteratorAge CompileSnapshotsFunction", 60_000*float64(after))
		}, "DeliveryErrorsAlarm 2, DeliveryStreamAgeAlarm 3"},
		"snapshots: the stream fails on records": {func(m minute, after int) {
			m.value("IteratorAge CompileSnapshotsFunction", 60_000*float64(after))
		}, "DeliveryStreamAgeAlarm 3"},
		"the stream is not read for compile-snapshots": {func(m minute, _ int) {
			delete(m, "Invocations CompileSnapshotsFunction")
		}, "DeliveryStreamReaderAlarm 4"},
		"the stream is not read for publish-events": {func(m minute, _ int) {
			delete(m, "Invocations PublishEventsFunction")
		}, "StreamReadersAlarm 4"},
		"the stream is not read for reevaluate-staleness": {func(m minute, after int) {
			if after == 3 || after == 4 { // a change in the third minute
				m.count("recentTypeEvents SweepSnapshotsFunction", 1)
			}
		}, "StreamReadersAlarm 5"},
		"one change, and all streams are read": {func(m minute, after int) {
			for _, metric := range []string{"recentEvents SweepSnapshotsFunction",
				"Invocations CompileSnapshotsFunction", "Invocations PublishEventsFunction"} {
				delete(m, metric)
			}
			switch after {
			case 5:
				m.count("Invocations CompileSnapshotsFunction", 1)
				m.count("Invocations PublishEventsFunction", 1)
			case 6, 7:
				m.count("recentEvents SweepSnapshotsFunction", 1)
			}
		}, ""},
		"schedules are gone": {func(m minute, _ int) {
			delete(m, "Invocations SweepStalenessFunction")
			delete(m, "Invocations SweepSnapshotsFunction")
			delete(m, "Invocations SweepUsageFunction")
		}, "DeliverySweepMissingAlarm 5, SweepMissingAlarm 5"},
		"the schedule of change requests is gone": {func(m minute, _ int) {
			delete(m, "Invocations SweepChangeRequestsFunction")
		}, "SweepMissingAlarm 5"},
		"scheduled change requests are not applied": {func(m minute, _ int) {
			m.count("Errors SweepChangeRequestsFunction", 1)
		}, "BackgroundErrorsAlarm 2"},
		"warm clients cannot read": {func(m minute, _ int) {
			m.count("stale ClientFunction", 8)
		}, "ClientErrorsAlarm 2"},
		"usage: client cannot write": {func(m minute, _ int) {
			m.count("usageFailed ClientFunction", 6)
		}, "ClientErrorsAlarm 2"},
		"usage: the sweep fails": {func(m minute, _ int) {
			m.count("Errors SweepUsageFunction", 1)
		}, "DeliveryErrorsAlarm 2"},
		"staleness: stream and sweep fail": {func(m minute, after int) {
			m.count("Errors SweepStalenessFunction", 1)
			m.value("IteratorAge ReevaluateStalenessFunction", 60_000*float64(after))
		}, "BackgroundErrorsAlarm 2, StreamAgeAlarm 3"},
		"the authorizer fails, 3 requests a minute": {func(m minute, _ int) {
			m.requests(3, 3)
			m.count("Invocations AuthorizerFunction", 3)
			m.count("Errors AuthorizerFunction", 3)
		}, "Api5xxAlarm 2, AuthorizerErrorsAlarm 2"},
		"the authorizer fails, 1 request a minute": {func(m minute, _ int) {
			m.requests(1, 1)
			m.count("Invocations AuthorizerFunction", 1)
			m.count("Errors AuthorizerFunction", 1)
		}, "Api5xxAlarm 2, AuthorizerErrorsAlarm 2"},
		"one of few requests fails": {func(m minute, after int) {
			m.requests(1, 0)
			if after == 5 {
				m.requests(1, 1)
			}
		}, ""},
		"warm clients cannot read, 1 request a minute": {func(m minute, _ int) {
			m.count("UrlRequestCount ClientFunction", 1)
			m.count("stale ClientFunction", 1)
		}, "ClientErrorsAlarm 2"},
		"Lambda throttles": {func(m minute, _ int) {
			m.count("Throttles", 5)
			m.count("Throttles ClientFunction", 5)
		}, "ClientErrorsAlarm 2, FunctionThrottlesAlarm 2"},
		"API Gateway throttles": {func(m minute, _ int) {
			m.count("throttledRequests", 5)
		}, "ApiThrottlesAlarm 3"},
		"the access log is gone": {func(m minute, _ int) {
			m.requests(20, 0)
			delete(m, "IncomingLogEvents AccessLogs")
			delete(m, "Invocations RecordTrafficFunction")
		}, "AccessLogAlarm 4"},
		"lines of the access log arrive two minutes late": {func(m minute, after int) {
			m.requests(20, 0)
			if after <= 2 {
				delete(m, "IncomingLogEvents AccessLogs")
				delete(m, "Invocations RecordTrafficFunction")
			}
		}, ""},
		"a message in a queue of failures": {func(m minute, _ int) {
			m.value("ApproximateNumberOfMessagesVisible EventFailures", 1)
		}, "FailureQueuesAlarm 1"},
		"a toggle cannot be compiled": {func(m minute, _ int) {
			m.count("kept CompileSnapshotsFunction", 1)
		}, "KeptTogglesAlarm 1"},
		"toggles are nearly too large": {func(m minute, _ int) {
			m.count("large CompileSnapshotsFunction", 1)
		}, "SnapshotSizeAlarm 1"},
		"the certificate expires": {func(m minute, _ int) {
			m.value("DaysToExpiry "+everything["CertificateArn"], 20)
		}, "CertificateAlarm 1"},
		"the webhook's secret cannot be read": {func(m minute, _ int) {
			m.count("webhookSecretErrors", 1)
		}, "WebhookSecretAlarm 1"},
	} {
		minutes := make([]minute, withinMinutes+1) // the first is that of all minutes before
		for at := range minutes {
			minutes[at] = healthy()
			if at > 0 {
				row.fail(minutes[at], at)
			}
		}
		world := func(at int) minute { return minutes[max(at, 0)] }
		var rings []string
		for _, a := range all {
			if after := a.ringsAfter(world, withinMinutes); after > 0 {
				rings = append(rings, fmt.Sprint(a.name, " ", after))
			}
		}
		if got := strings.Join(rings, ", "); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// TestFewRequestsFail lets every request fail, at random times. It compares how many of 500 outages Api5xxAlarm reports
// in time, in percent.
func TestFewRequestsFail(t *testing.T) {
	t.Parallel()
	all := simulated(t)
	a := all[slices.IndexFunc(all, func(a alarm) bool { return a.name == "Api5xxAlarm" })]
	for _, row := range []struct{ perMinute, within5, within15, within60 float64 }{
		{0.5, 60, 90, 99},
		{1, 90, 99, 99},
		{2, 98, 99, 99},
		{3, 99, 99, 99},
	} {
		random := rand.New(rand.NewPCG(1, 1))
		const outages = 500
		var in5, in15, in60 float64
		for range outages {
			minutes := make([]minute, 61)
			for at := range minutes {
				minutes[at] = minute{}
				if n := requests(random, row.perMinute); at > 0 && n > 0 {
					minutes[at].requests(n, n)
				}
			}
			after := a.ringsAfter(func(at int) minute { return minutes[max(at, 0)] }, 60)
			for within, count := range map[int]*float64{5: &in5, 15: &in15, 60: &in60} {
				if 0 < after && after <= within {
					*count += 100. / outages
				}
			}
		}
		if in5 < row.within5 || in15 < row.within15 || in60 < row.within60 {
			t.Errorf("%v requests per minute: got %.0f %%, %.0f %%, %.0f %%, want %v", row.perMinute, in5, in15, in60, row)
		}
	}
}

// requests returns a number of the Poisson distribution.
func requests(random *rand.Rand, mean float64) (n float64) {
	for product := random.Float64(); product > math.Exp(-mean); product *= random.Float64() {
		n++
	}
	return n
}

// alarm is an alarm of the template, whose metrics have been parsed.
type alarm struct {
	name       string
	properties map[string]any
	stats      []stat
	values     map[string]ast.Expr // of the metrics, by id
	result     string              // the id of what is compared with the threshold
}

// stat is a statistic of a metric.
type stat struct {
	id, metric, statistic string
	minutes               int
}

// simulated returns the alarms of a stack with everything, by name.
func simulated(t *testing.T) (all []alarm) {
	t.Helper()
	for _, r := range load(t, everything).Resources {
		if r.Type == "AWS::CloudWatch::Alarm" {
			all = append(all, newAlarm(t, r))
		}
	}
	slices.SortFunc(all, func(a, b alarm) int { return strings.Compare(a.name, b.name) })
	return all
}

func newAlarm(t *testing.T, r samtemplate.Resource) alarm {
	t.Helper()
	p := r.Properties
	a := alarm{name: r.LogicalID, properties: p, values: map[string]ast.Expr{}, result: "metric"}
	if p["Metrics"] == nil {
		a.stats = []stat{newStat(a.result, p, p["Statistic"], p["Period"])}
	}
	for _, query := range list(p["Metrics"]) {
		id := fmt.Sprint(at(query, "Id"))
		if at(query, "ReturnData") == nil {
			a.result = id
		}
		if metric := at(query, "MetricStat"); metric != nil {
			a.stats = append(a.stats, newStat(id, at(metric, "Metric"), at(metric, "Stat"), at(metric, "Period")))
			continue
		}
		// the rest of the syntax is that of Go
		text := strings.NewReplacer(" AND ", " && ", " OR ", " || ").Replace(fmt.Sprint(at(query, "Expression")))
		parsed, err := parser.ParseExpr(text)
		assert.OK(t, err)
		a.values[id] = parsed
	}
	return a
}

func newStat(id string, metric, statistic, period any) stat {
	name := fmt.Sprint(at(metric, "MetricName"))
	if dimensions := list(at(metric, "Dimensions")); len(dimensions) > 0 {
		name += " " + fmt.Sprint(at(dimensions[0], "Value"))
	}
	return stat{id, name, fmt.Sprint(statistic), int(number(period)) / 60}
}

func number(value any) float64 {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		panic(err)
	}
	return n
}

// ringsAfter returns the first minute of a failure at whose end the alarm is active, or 0 if there is none.
func (a alarm) ringsAfter(world func(at int) minute, within int) int {
	for end := 1; end <= within; end++ {
		if a.isActive(world, end) {
			return end
		}
	}
	return 0
}

// isActive reports whether the alarm is active at the end of a minute.
func (a alarm) isActive(world func(at int) minute, end int) bool {
	breaching := 0
	for range int(number(a.properties["EvaluationPeriods"])) {
		if a.isBreaching(a.evaluate(ast.NewIdent(a.result), func(s stat) float64 { return s.of(world, end) })) {
			breaching++
		}
		end -= a.stats[0].minutes
	}
	return breaching >= int(number(a.properties["DatapointsToAlarm"]))
}

func (a alarm) isBreaching(value float64) bool {
	if math.IsNaN(value) {
		return a.properties["TreatMissingData"] == "breaching"
	}
	threshold := number(a.properties["Threshold"])
	switch operator := a.properties["ComparisonOperator"]; operator {
	case "GreaterThanOrEqualToThreshold":
		return value >= threshold
	case "GreaterThanThreshold":
		return value > threshold
	case "LessThanThreshold":
		return value < threshold
	default:
		panic(fmt.Sprint("unknown operator ", operator))
	}
}

// of returns the statistic over the period until the end of a minute, or NaN if there are no data.
func (s stat) of(world func(at int) minute, end int) float64 {
	total, found := datum{max: math.Inf(-1)}, false
	lowest := math.Inf(1)
	for at := end - s.minutes + 1; at <= end; at++ {
		if d, ok := world(at)[s.metric]; ok {
			found = true
			total = datum{total.sum + d.sum, total.count + d.count, max(total.max, d.max)}
			lowest = min(lowest, d.max)
		}
	}
	switch {
	case !found:
		return math.NaN()
	case s.statistic == "Sum":
		return total.sum
	case s.statistic == "Average":
		return total.sum / total.count
	case s.statistic == "Minimum":
		return lowest
	default: // Maximum and percentiles
		return total.max
	}
}

// evaluate computes an expression of CloudWatch. NaN is a value without data.
func (a alarm) evaluate(e ast.Expr, of func(stat) float64) float64 {
	switch e := e.(type) {
	case *ast.BasicLit:
		return number(e.Value)
	case *ast.ParenExpr:
		return a.evaluate(e.X, of)
	case *ast.Ident:
		if value, ok := a.values[e.Name]; ok {
			return a.evaluate(value, of)
		}
		i := slices.IndexFunc(a.stats, func(s stat) bool { return s.id == e.Name })
		return of(a.stats[i])
	case *ast.BinaryExpr:
		return operate(e.Op, a.evaluate(e.X, of), a.evaluate(e.Y, of))
	case *ast.CallExpr:
		return a.call(e, of)
	}
	panic(fmt.Sprintf("%s: unknown syntax %T", a.name, e))
}

func (a alarm) call(e *ast.CallExpr, of func(stat) float64) float64 {
	argument := func(i int) float64 { return a.evaluate(e.Args[i], of) }
	function, _ := e.Fun.(*ast.Ident)
	switch name := function.String(); name {
	case "IF":
		switch condition := argument(0); {
		case math.IsNaN(condition):
			return condition
		case condition != 0:
			return argument(1)
		}
		return argument(2)
	case "FILL":
		if value := argument(0); !math.IsNaN(value) {
			return value
		}
		return argument(1)
	case "SUM":
		sum := 0.0
		for _, value := range a.filled(e, of) {
			sum += value
		}
		return sum
	case "MAX":
		return slices.Max(a.filled(e, of))
	case "MIN":
		return slices.Min(a.filled(e, of))
	default:
		panic(fmt.Sprint(a.name, ": unknown function ", name))
	}
}

// filled returns FILL(METRICS(), 0), or FILL(METRICS("part of an id"), 0).
func (a alarm) filled(e ast.Node, of func(stat) float64) (values []float64) {
	part := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			part = strings.Trim(literal.Value, `"`)
		}
		return true
	})
	for _, s := range a.stats {
		value := of(s)
		if math.IsNaN(value) {
			value = 0
		}
		if strings.Contains(s.id, part) {
			values = append(values, value)
		}
	}
	return values
}

// operate returns NaN if a value has no data.
func operate(operator token.Token, x, y float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN()
	}
	truth := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	switch operator {
	case token.ADD:
		return x + y
	case token.QUO:
		return x / y
	case token.GEQ:
		return truth(x >= y)
	case token.GTR:
		return truth(x > y)
	case token.LSS:
		return truth(x < y)
	case token.LAND:
		return truth(x != 0 && y != 0)
	case token.LOR:
		return truth(x != 0 || y != 0)
	default:
		panic(fmt.Sprint("unknown operator ", operator))
	}
}
