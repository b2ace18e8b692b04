package recording

import (
	"strings"
	"testing"
)

func TestClientPatterns(t *testing.T) {
	head := []byte("GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: Python-HTTPX/0.27 (x)\r\nX-Agent: Planner-7\r\n\r\n")
	conn := &Conn{client: "10.1.2.3:49153", Certificate: "Booker"}
	for _, tt := range []struct {
		flag, name, how string
		fits            bool
	}{
		{"user-agent:*httpx*=planner", "planner", "--client user-agent", true},
		{"User-Agent: python-httpx/0.27 (x)=planner", "planner", "--client user-agent", true},
		{"python-httpx=planner", "planner", "--client user-agent", true},
		{"python-http*7 (x)=planner", "planner", "--client user-agent", true},
		{"python=planner", "planner", "--client user-agent", false},
		{"*a*a*=planner", "planner", "--client user-agent", false},
		{"header:x-agent=planner-*=planner", "planner", "--client header:x-agent", true},
		{"header:X-Agent=*=planner", "planner", "--client header:X-Agent", true},
		{"header:X-Other=*=planner", "planner", "--client header:X-Other", false},
		{"addr:10.0.0.0/8=tests", "tests", "--client addr:10.0.0.0/8", true},
		{"addr:10.1.2.3=tests", "tests", "--client addr:10.1.2.3/32", true},
		{"addr:[::1]=tests", "tests", "--client addr:::1/128", false},
		{"addr:192.168.0.0/16=tests", "tests", "--client addr:192.168.0.0/16", false},
		{"cert:CN=book*=booker", "booker", "--client cert", true},
		{"cert:cn=b=booker", "booker", "--client cert", false},
	} {
		p, err := ParseClient(tt.flag)
		if err != nil {
			t.Errorf("%s: %v", tt.flag, err)
			continue
		}
		if got := p.fits(head, conn.client, conn.Certificate); got != tt.fits || p.Name != tt.name || p.how() != tt.how {
			t.Errorf("%s: %v, %s, %s", tt.flag, got, p.Name, p.how())
		}
	}
	p, err := ParseClient("*=anybody")
	if err != nil || p.fits([]byte("GET / HTTP/1.1\r\n\r\n"), conn.client, conn.Certificate) {
		t.Errorf("a request without User-Agent fits, or %v", err)
	}
}

func TestBadClientPatterns(t *testing.T) {
	for _, tt := range []struct{ flag, want, not string }{
		{"curl", "write PATTERN=NAME", ""},
		{"curl=", "not a name", ""},
		{"curl=my planner", "not a name", ""},
		{"=planner", "the pattern is empty", ""},
		{"user-agent:=planner", "the pattern is empty", ""},
		{"useragent:curl=planner", `did you mean "user-agent"?`, ""},
		{"process:curl=planner", "unknown kind of pattern \"process\"", ""},
		{"addr:10.0.0=planner", "\"10.0.0\" is not an address; write addr:", ""},
		{"addr:10.0.0.0/99=planner", "is not an address", ""},
		{"cert:O=x=planner", "the common name", ""},
		{"header:X-Agent=planner", "write header:FIELD=TEXT=NAME", ""},
		{"header:X-Key=s3cret", "--client \"header:X-Key=…\"", "s3cret"},
		{"header:X-Key=s3cret==", "--client \"header:X-Key=…\"", "s3cret"},
		{"header:X Agent=a=planner", "write header:FIELD=TEXT=NAME", ""},
	} {
		_, err := ParseClient(tt.flag)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "--client \"") ||
			tt.not != "" && strings.Contains(err.Error(), tt.not) {
			t.Errorf("%s: %v", tt.flag, err)
		}
	}
}

func FuzzClientPattern(f *testing.F) {
	f.Add("*a*b=n", "ab")
	f.Add("header:X=*=n", "x")
	f.Fuzz(func(t *testing.T, flag, text string) {
		p, err := ParseClient(flag)
		if err != nil {
			return
		}
		if !ValidName(p.Name) {
			t.Errorf("name %q", p.Name)
		}
		p.fits([]byte("GET / HTTP/1.1\r\nUser-Agent: "+text+"\r\n\r\n"), text, text)
		filled := strings.ReplaceAll(p.glob, "*", text)
		if !globMatches(p.glob, p.glob) || !globMatches(p.glob, filled) {
			t.Errorf("%q does not match what is made of it with %q", p.glob, text)
		}
	})
}
