package report_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture/transcript"
)

// Every call of a batch counts, in every format, however many there are and however they came out.
func TestEveryCallOfABatchCounts(t *testing.T) {
	const found, missing = `{"jsonrpc":"2.0","id":%d,"result":{"id":"t%[1]d","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
		`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"database is down"}}`
	each := func(size int, response func(i int) string) string {
		list := make([]string, 0, size)
		for i := range size {
			if text := response(i); text != "" {
				list = append(list, text)
			}
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	for _, size := range []int{1, 99, 100, 101, 250, 1000} {
		for _, test := range []struct {
			name   string
			status string
			answer string
			failed int
		}{
			{"HTTP", "503 Service Unavailable", "upstream is down", size},
			{"one error", "200 OK", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches here"}}`, size},
			{"no response", "", "", size},
			{"each fails", "200 OK", each(size, func(i int) string { return fmt.Sprintf(missing, i) }), size},
			{"each succeeds", "200 OK", each(size, func(i int) string { return fmt.Sprintf(found, i) }), 0},
			{"the last is left out", "200 OK", each(size, func(i int) string {
				if i == size-1 {
					return ""
				}
				return fmt.Sprintf(found, i)
			}), 1},
			{"every second fails", "200 OK", each(size, func(i int) string {
				return fmt.Sprintf([]string{found, missing}[i%2], i)
			}), size / 2},
			{"each with another code", "200 OK", each(size, func(i int) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-%d,"message":"no"}}`, i, 31000+i)
			}), size},
		} {
			calls := make([]string, size)
			for i := range calls {
				calls[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":"t%[1]d"}}`, i)
			}
			text := "-- 1.request --\nPOST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n\n[" +
				strings.Join(calls, ",") + "]\n"
			if test.status == "" {
				text = "-- 1.meta --\nfault: reset agent \"connection reset by peer\"\n" + text
			} else {
				text += "-- 1.response --\nHTTP/1.1 " + test.status + "\nContent-Type: application/json\n\n" + test.answer + "\n"
			}
			tr, err := transcript.Parse("batch", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			r := rulestest.Check(t, rules.All, tr.Exchanges)
			v := r.Verdict(analysis.Error)
			if v.Calls.Made != size || v.Calls.Failed != test.failed || v.Calls.Succeeded != size-test.failed {
				t.Errorf("%s, %d calls: %s, want %d failed", test.name, size, v.Calls.String(), test.failed)
			}
			listed := 0
			for _, f := range r.FailedCalls {
				listed += f.Count
			}
			if listed != test.failed {
				t.Errorf("%s, %d calls: the list of failed calls has %d, want %d", test.name, size, listed, test.failed)
			}
			if len(r.FailedCalls) > 150 {
				t.Errorf("%s, %d calls: %d groups of failed calls are kept", test.name, size, len(r.FailedCalls))
			}
			for _, format := range report.Formats() {
				b := written(t, func(w io.Writer, r *report.Report) error { return report.Write(w, format, r) }, whole(r, rules.All...))
				want := fmt.Sprintf("%d of %d calls", test.failed, size)
				if format == "json" {
					want = fmt.Sprintf("\"callsFailed\": %d,", test.failed)
				}
				if test.failed > 1 && !strings.Contains(b, want) {
					t.Errorf("%s, %d calls: %s does not say that %d of %[2]d calls failed", test.name, size, format, test.failed)
				}
			}
		}
	}
}
