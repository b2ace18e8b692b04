package replayer

import (
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/replay"
)

// A translation selects the binding and the dialect for the replay of a recording.
type translation struct{ binding, dialect string }

func (f *translation) Register(to *pflag.FlagSet) {
	to.StringVar(&f.binding, "binding", "",
		"translate requests to the `BINDING` jsonrpc, http+json or grpc, and send them to its address in the live card")
	to.StringVar(&f.dialect, "dialect", "",
		"translate requests to the `DIALECT` 0.2, 0.3 or 1.0, and send them to its address in the live card")
}

// set sets the binding and the dialect in the options of a replay.
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
