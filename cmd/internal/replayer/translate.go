package replayer

import (
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/replay"
)

// translation choose the binding and the dialect in which a recording is played.
type translation struct{ binding, dialect string }

func (f *translation) Register(to *pflag.FlagSet) {
	to.StringVar(&f.binding, "binding", "",
		"translate requests to the `BINDING` jsonrpc, http+json or grpc, at the address that the live card has for it")
	to.StringVar(&f.dialect, "dialect", "",
		"translate requests to the `DIALECT` 0.2, 0.3 or 1.0, at the address that the live card has for it")
}

// set writes the choice into the options of a replay.
func (f *translation) set(o *replay.Options) error {
	if f.binding != "" {
		if err := cli.Choose("binding", f.binding, a2a.JSONRPC.String(), a2a.HTTPJSON.String(),
			a2a.GRPC.String()); err != nil {
			return err
		}
		o.Binding, _ = a2a.ParseBinding(f.binding)
	}
	if f.dialect == "" {
		return nil
	}
	if err := cli.Choose("dialect", f.dialect, "0.2", "0.3", "1.0"); err != nil {
		return err
	}
	o.Dialect = a2a.VersionDialects(f.dialect)
	return nil
}
