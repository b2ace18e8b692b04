package setup

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/proxy/hostname"
	"a2atap/replay/client/auth"
)

// SeveralFlags are the flags of credentials for several agents. Each value may begin with the name of the agent that it
// is for, as NAME=VALUE.
type SeveralFlags struct {
	To     []string             // of --credentials-to
	values map[string]*[]string // by flag
}

// An Agent is who credentials are for.
type Agent struct {
	Name string // empty for the one that has none
	URL  string
}

// Register adds the flags to a set. The text says with which requests they go.
func (f *SeveralFlags) Register(set *pflag.FlagSet, with string) {
	registerCredentialsTo(set, &f.To)
	f.values = map[string]*[]string{}
	const whose = "; NAME= before it is for the agent NAME alone; repeatable"
	for _, flag := range []struct{ name, help string }{
		{
			"auth", "send `[NAME=]CREDENTIALS` " + with + ", to the agent NAME alone, or to any: " + authHelp +
				"; repeatable",
		},
		{"oauth-client-id", clientIDHelp + whose},
		{"oauth-client-secret", clientSecretHelp + whose},
		{"oauth-user", userHelp + whose},
		{"oauth-password", passwordHelp + whose},
		{"oauth-token-url", tokenURLHelp + whose},
		{"oauth-scope", strings.Replace(scopeHelp, "; repeatable", whose, 1)},
	} {
		f.values[flag.name] = set.StringArray(flag.name, nil, flag.help)
	}
}

// Setup reads the flags for each agent, in their order. An agent that a flag names gets what is named for it, and nothing
// else. What has no name is for all others; it must not go to several machines. The setups make Authorize alone of their
// options, and nil where an agent has no credentials. Errors are as those of [Flags.Setup].
func (f *SeveralFlags) Setup(w World, agents []Agent) ([]*Setup, error) {
	if err := checkCredentialsTo(f.To); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, a := range agents {
		names[a.Name] = true
	}
	sorted, err := f.sort(names)
	if err != nil {
		return nil, err
	}
	if err := sorted[""].within(agents, sorted); err != nil {
		return nil, err
	}
	var list []*Setup
	for _, a := range agents {
		flags := sorted[a.Name]
		if flags == nil {
			flags = sorted[""]
		}
		if flags == nil {
			flags = &Flags{}
		}
		s, err := flags.setupCredentials(w, a.URL)
		if err != nil {
			if sorted[a.Name] != nil && a.Name != "" {
				err = fmt.Errorf("for %s: %w", a.Name, err)
			}
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// sort returns the flags of each agent that has some, by name; without a name, those for all others.
func (f *SeveralFlags) sort(names map[string]bool) (map[string]*Flags, error) {
	sorted := map[string]*Flags{}
	for flag, values := range f.values {
		for _, value := range *values {
			name, rest := whose(value, names)
			if other, ok := stranger(value); flag == "auth" && name == "" && ok {
				return nil, fmt.Errorf("--auth is given for %q, which no --to names", other)
			}
			if sorted[name] == nil {
				sorted[name] = &Flags{}
			}
			to := sorted[name].credential(flag)
			switch {
			case to == nil:
				sorted[name].OAuth.Scopes = append(sorted[name].OAuth.Scopes, rest)
			case *to != "":
				return nil, fmt.Errorf("--%s is given twice%s", flag, forWhom(name))
			default:
				*to = rest
			}
		}
	}
	return sorted, nil
}

func forWhom(name string) string {
	if name == "" {
		return "; write NAME= before it for each agent"
	}
	return " for " + name
}

// credential returns where the value of a flag goes; nil for the flag that may be repeated.
func (f *Flags) credential(flag string) *string {
	return map[string]*string{
		"auth": &f.Auth, "oauth-client-id": &f.OAuth.ClientID, "oauth-client-secret": &f.OAuth.ClientSecret,
		"oauth-user": &f.OAuth.User, "oauth-password": &f.OAuth.Password, "oauth-token-url": &f.OAuth.TokenURL,
	}[flag]
}

// whose splits [NAME=]VALUE. Only the name of an agent is one: a secret may hold any sign.
func whose(value string, names map[string]bool) (name, rest string) {
	before, after, found := strings.Cut(value, "=")
	if found && before != "" && names[before] {
		return before, after
	}
	return "", value
}

// stranger returns the name before credentials that are complete without it: nobody writes a secret so.
func stranger(value string) (name string, ok bool) {
	before, after, found := strings.Cut(value, "=")
	if !found || before == "" || strings.ContainsAny(before, "@/") {
		return "", false
	}
	keep := func(text string) (string, error) { return text, nil }
	if _, err := auth.Parse(value, keep); err == nil {
		return "", false
	}
	_, err := auth.Parse(after, keep)
	return before, err == nil
}

// within refuses credentials without a name that would go to several machines: whose they are is then not known, and
// what one owner is told is not for another.
func (f *Flags) within(agents []Agent, sorted map[string]*Flags) error {
	if f == nil {
		return nil
	}
	first := ""
	for _, a := range agents {
		if a.Name != "" && sorted[a.Name] != nil {
			continue
		}
		u, err := url.Parse(a.URL)
		if err != nil {
			continue // who connects says so
		}
		host := hostname.Normal(u.Hostname())
		if hostname.IsLoopback(host) {
			host = "this machine"
		}
		if first == "" {
			first = host
		} else if first != host {
			return errors.New("credentials without a name would go to " + first + " and " + host +
				": write NAME= before them, for each agent that is to get them")
		}
	}
	return nil
}
