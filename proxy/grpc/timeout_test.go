package grpc_test

import (
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0m", 1500 * time.Microsecond: "2m", 2 * time.Minute: "120000m", 48 * time.Hour: "172800S",
		1 << 62: "76861434M",
	} {
		expect.Equal(t, d, want, grpc.FormatTimeout(d))
	}
}

// Whatever a client sends is a time that is not negative, or none.
func FuzzParseTimeout(f *testing.F) {
	for _, text := range []string{"1m", "99999999H", "5", "-1S", "+1S", "1x", "000000001S"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := grpc.ParseTimeout(text)
		if d < 0 || !ok && d != 0 {
			t.Errorf("%q: got %v, %v", text, d, ok)
		}
		if again, ok2 := grpc.ParseTimeout(grpc.FormatTimeout(d)); ok && (!ok2 || again < d) {
			t.Errorf("%q is %v, and comes back as %v", text, d, again)
		}
	})
}

// What Write says of a call, StatusOf reads.
func TestStatusComesBack(t *testing.T) {
	t.Parallel()
	details := `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]`
	fields := map[string]string{}
	doc := jsondoc.Parse([]byte(details))
	was := grpc.Status{Code: grpc.NotFound, Message: "no task “é” at 100%"}
	must.Do(t, was.Write(func(name, value string) { fields[name] = value }, doc.Root))
	is, ok := grpc.StatusOf(func(name string) string { return fields[name] })
	if !ok || is.Code != was.Code || is.Message != was.Message || is.Details() == nil {
		t.Fatalf("got %+v, %v of %v", is, ok, fields)
	}
	expect.Same(t, "details", details, string(is.Details().List))
	doc = jsondoc.Parse([]byte(`[{"@type":"x/own.Type"}]`))
	if err := was.Write(func(string, string) {}, doc.Root); err == nil {
		t.Error("a detail of a type that is not known is written")
	}
}
