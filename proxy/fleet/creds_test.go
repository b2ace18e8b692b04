package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"a2atap/proxy/expect"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// A file of credentials, as nsc writes it, is enough; one that the server does not know is refused, and not repeated.
func TestCredentialsFile(t *testing.T) {
	t.Parallel()
	operator := newKey(t, nkeys.CreateOperator)
	account, system := newKey(t, nkeys.CreateAccount), newKey(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(publicKey(t, account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	accountJWT := must.Get(claims.Encode(operator))(t)
	operatorJWT := must.Get(jwt.NewOperatorClaims(publicKey(t, operator)).Encode(operator))(t)
	trusted := must.Get(jwt.DecodeOperatorClaims(operatorJWT))(t)
	systemJWT := must.Get(jwt.NewAccountClaims(publicKey(t, system)).Encode(operator))(t)
	resolver := &server.MemAccResolver{}
	for key, text := range map[nkeys.KeyPair]string{account: accountJWT, system: systemJWT} {
		must.Do(t, resolver.Store(publicKey(t, key), text))
	}
	s := fleettest.Start(t, func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{trusted}, resolver
		o.SystemAccount = publicKey(t, system)
	})
	r := newRecorder(t)
	r.record(1, 100)
	r.end()
	good := credentials(t, account)
	shipper := ship(t, s.URL("traffic"), r, func(o *ShipOptions) { o.Connect.CredentialsFile = good })
	shipper.wait()
	expect.Equal(t, "with credentials", 6, shipper.Status().Shipped)
	strange := credentials(t, newKey(t, nkeys.CreateAccount))
	shipper = ship(t, s.URL("traffic"), r, func(o *ShipOptions) {
		o.Connect.CredentialsFile, o.Once, o.GiveUp = strange, true, must.Patience
	})
	if <-shipper.done; shipper.err == nil || !strings.Contains(shipper.err.Error(), "check the user") {
		t.Errorf("with the credentials of a stranger: %v", shipper.err)
	}
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	return must.Get(create())(t)
}

func publicKey(t *testing.T, key nkeys.KeyPair) string {
	t.Helper()
	return must.Get(key.PublicKey())(t)
}

// credentials writes those of a user of an account into a file.
func credentials(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	user := newKey(t, nkeys.CreateUser)
	token := must.Get(jwt.NewUserClaims(publicKey(t, user)).Encode(account))(t)
	seed := must.Get(user.Seed())(t)
	text := must.Get(jwt.FormatUserConfig(token, seed))(t)
	file := filepath.Join(t.TempDir(), "user.creds")
	must.Do(t, os.WriteFile(file, text, 0o600))
	return file
}
