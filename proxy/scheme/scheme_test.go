package scheme_test

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/scheme"
)

func TestIsTLSRecord(t *testing.T) {
	for _, test := range []struct {
		name, bytes string
		want        bool
	}{
		{"alert of TLS 1.2", "\x15\x03\x03\x00\x02\x02\x46", true},
		{"alert of TLS 1.0", "\x15\x03\x01\x00\x02\x02\x16", true},
		{"the beginning of one", "\x15\x03\x03", true},
		{"ServerHello", "\x16\x03\x03\x00\x7a\x02", true},
		{"too little", "\x15\x03", false},
		{"nothing", "", false},
		{"application data", "\x17\x03\x03\x00\x02", false},
		{"another version", "\x15\x02\x00\x00\x02", false},
		{"HTTP/1.1", "HTTP/1.1 200 OK\r\n", false},
		{"SETTINGS of HTTP/2", "\x00\x00\x12\x04\x00\x00\x00\x00\x00", false},
		{"SSH", "SSH-2.0-x\r\n", false},
	} {
		expect.Equal(t, test.name, test.want, scheme.IsTLSRecord([]byte(test.bytes)))
	}
}

func TestRefusesPlainHTTP(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   bool
	}{
		{"Go", 400, "Client sent an HTTP request to an HTTPS server.\n", true},
		{"nginx", 400, "<center>The plain HTTP request was sent to HTTPS port</center>", true},
		{"Apache", 400, "Reason: You're speaking plain HTTP to an SSL-enabled server port.<br />", true},
		{"Tomcat", 400, "Bad Request\r\nThis combination of host and port requires TLS.\r\n", true},
		{"another refusal", 400, "Invalid HTTP request received.", false},
		{"an answer that quotes it", 200, "Client sent an HTTP request to an HTTPS server.", false},
		{"nothing", 400, "", false},
	} {
		expect.Equal(t, test.name, test.want, scheme.RefusesPlainHTTP(test.status, []byte(test.body)))
	}
}
