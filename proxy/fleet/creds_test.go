package fleet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"a2atap/proxy/fleet/fleettest"
)

// A file of credentials, as nsc writes it, is enough; one that the server does not know is refused, and not repeated.
func TestCredentialsFile(t *testing.T) {
	t.Parallel()
	operator := newKey(t, nkeys.CreateOperator)
	account, system := newKey(t, nkeys.CreateAccount), newKey(t, nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(publicKey(t, account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	operatorJWT, err := jwt.NewOperatorClaims(publicKey(t, operator)).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := jwt.DecodeOperatorClaims(operatorJWT)
	if err != nil {
		t.Fatal(err)
	}
	systemJWT, err := jwt.NewAccountClaims(publicKey(t, system)).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	resolver := &server.MemAccResolver{}
	for key, text := range map[nkeys.KeyPair]string{account: accountJWT, system: systemJWT} {
		if err := resolver.Store(publicKey(t, key), text); err != nil {
			t.Fatal(err)
		}
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
	if shipper.Status().Shipped != 6 {
		t.Errorf("with credentials: %+v", shipper.Status())
	}
	strange := credentials(t, newKey(t, nkeys.CreateAccount))
	shipper = ship(t, s.URL("traffic"), r, func(o *ShipOptions) {
		o.Connect.CredentialsFile, o.Once, o.GiveUp = strange, true, testTimeout
	})
	if <-shipper.done; shipper.err == nil || !strings.Contains(shipper.err.Error(), "check the user") {
		t.Errorf("with the credentials of a stranger: %v", shipper.err)
	}
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	key, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func publicKey(t *testing.T, key nkeys.KeyPair) string {
	t.Helper()
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// credentials writes those of a user of an account into a file.
func credentials(t *testing.T, account nkeys.KeyPair) string {
	t.Helper()
	user := newKey(t, nkeys.CreateUser)
	token, err := jwt.NewUserClaims(publicKey(t, user)).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(token, seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "user.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
