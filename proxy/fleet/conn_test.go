package fleet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
)

func TestMain(m *testing.M) {
	paralleltest.AtOnce(32)
	goleak.VerifyTestMain(m)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	open := fleettest.Start(t)
	guarded := fleettest.Start(t, func(o *server.Options) { o.Username, o.Password = "me", "pass-word" })
	token := fleettest.Start(t, func(o *server.Options) { o.Authorization = "to-ken" })
	with := func(s *fleettest.Server, userinfo string) string {
		return strings.Replace(s.URL("traffic"), "://", "://"+userinfo, 1)
	}
	for _, test := range []struct {
		url     string
		options fleet.Options
		err     string // part of the error; empty if it connects
	}{
		{url: open.URL("traffic")},
		{url: guarded.URL("traffic"), err: "check the user"},
		{url: with(guarded, "me:pass-word@")},
		{url: guarded.URL("traffic"), options: fleet.Options{User: "me", Password: "pass-word"}},
		{url: with(guarded, "me:wrong-one@"), err: "check the user"},
		{url: with(guarded, "me:pass-word@"), options: fleet.Options{Token: "to-ken"}, err: "several kinds of credentials"},
		{url: with(token, "to-ken@")},
		{url: token.URL("traffic"), options: fleet.Options{Token: "to-ken"}},
		{url: token.URL("traffic"), options: fleet.Options{CredentialsFile: "absent.creds"}, err: "absent.creds"},
		{url: "nats://127.0.0.1:1/traffic", err: "check that the server is running there"},
	} {
		a, err := fleet.ParseAddress(test.url)
		must.Do(t, err)
		c, err := fleet.Connect(t.Context(), a, test.options)
		if err == nil {
			c.Close()
		}
		switch {
		case test.err == "" && err != nil, test.err != "" && err == nil:
			t.Errorf("%s: %v", a, err)
		case err != nil:
			if text := err.Error(); !strings.Contains(text, test.err) || strings.Contains(text, "pass-word") ||
				strings.Contains(text, "wrong-one") || strings.Contains(text, "to-ken") {
				t.Errorf("%s: %s", a, text)
			}
		}
	}
}

// A broken connection is distinguished from the other messages of a server.
func TestAway(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	a, err := fleet.ParseAddress(s.URL("traffic"))
	must.Do(t, err)
	told := make(chan error, 100)
	c, err := fleet.Connect(t.Context(), a, fleet.Options{OnTrouble: func(err error) { told <- err }})
	must.Do(t, err)
	defer c.Close()
	s.Restart()
	broke := <-told
	if !errors.Is(broke, fleet.ErrAway) || broke.Error() == fleet.ErrAway.Error() {
		t.Errorf("it is told %v", broke)
	}
	for err := range told {
		if err == nil {
			break
		}
		expect.ErrorIs(t, "it is told", fleet.ErrAway, err)
	}
}
