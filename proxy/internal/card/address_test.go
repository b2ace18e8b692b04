package card

import (
	"testing"

	"a2atap/proxy/expect"
)

// The text of an address, which logs and notes print, has no part that may hold a secret.
func TestAddressWithoutSecrets(t *testing.T) {
	for _, test := range []struct {
		url  URL
		want string
	}{
		{URL{Text: "http://h:1/a/b"}, "http://h:1/a/b"},
		{URL{Text: "https://alice:s3cret@h/x?sig=s3cret#s3cret"}, "https://h/x"},
		{URL{Text: "https://s3cret@h"}, "https://h"},
		{URL{Text: "https://h?sig=s3cret"}, "https://h"},
		{URL{Text: "/a?sig=s3cret"}, "/a"},
		{URL{Text: "https://h/a@b"}, "https://h/a@b"},
		{URL{Text: "s3cret@h:50051", Transport: "GRPC"}, "h:50051 (gRPC)"},
		{URL{Text: "dns:///h:50051", Transport: "GRPC"}, "dns:///h:50051 (gRPC)"},
	} {
		expect.Equal(t, test.url.Text, test.want, test.url.String())
	}
}
