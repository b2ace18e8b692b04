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

// SeveralFlags are the flags of credentials for several agents. Each value may begin with an agent's name, as
// NAME=VALUE.
type SeveralFlags struct {
	To     []string             // of --credentials-to
	values map[string]*[]string // by flag
}

// An Agent is an agent that receives credentials.
type Agent struct {
	Name string // empty for the agent without a name
	URL  string
}

// Register adds the flags to a set. The text names the requests that they apply to.
func (f *SeveralFlags) Register(set *pflag.FlagSet, with string) {
	registerCredentialsTo(set, &f.To)
	f.values = map[string]*[]string{}
	const whose = "; with NAME= in front, only for the agent NAME; repeatable"
	for _, flag := range []struct{ name, help string }{
		{
			"auth", "send `[NAME=]CREDENTIALS` " + with + ", only to the agent NAME, or to any: " + authHelp +
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

// Setup reads the flags for each agent, in the agents' order. An agent that a flag names gets only the values named for
// it. Values without a name are for all other agents, which must be on one machine. The setups set only Authorize of
// their options, and leave it nil if an agent has no credentials. Errors are as in [Flags.Setup].
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

// sort returns the flags of each agent that has any, by name; flags for all others have an empty name.
func (f *SeveralFlags) sort(names map[string]bool) (map[string]*Flags, error) {
	sorted := map[string]*Flags{}
	for flag, values := range f.values {
		for _, value := range *values {
			name, rest := whose(value, names)
			if other, ok := stranger(value); flag == "auth" && name == "" && ok {
				return nil, fmt.Errorf("--auth is given for %q, but no --to names that agent", other)
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

// credential returns the variable that holds the value of a flag; nil for the flag that may be repeated.
func (f *Flags) credential(flag string) *string {
	return map[string]*string{
		"auth": &f.Auth, "oauth-client-id": &f.OAuth.ClientID, "oauth-client-secret": &f.OAuth.ClientSecret,
		"oauth-user": &f.OAuth.User, "oauth-password": &f.OAuth.Password, "oauth-token-url": &f.OAuth.TokenURL,
	}[flag]
}

// whose splits [NAME=]VALUE. Only an agent's name counts as NAME: a secret may hold any character.
func whose(value string, names map[string]bool) (name, rest string) {
	before, after, found := strings.Cut(value, "=")
	if found && before != "" && names[before] {
		return before, after
	}
	return "", value
}

// stranger returns the name before credentials that are complete without it: no secret has that form.
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

// within rejects credentials without a name that would go to several machines: their owner is then unknown, and a
// secret of one owner must not reach another.
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
			continue // connecting reports the error
		}
		host := hostname.Normal(u.Hostname())
		if hostname.IsLoopback(host) {
			host = "this machine"
		}
		if first == "" {
			first = host
		} else if first != host {
			return errors.New("credentials without a name would be sent to " + first + " and " + host +
				": write NAME= in front of them, for each agent that needs them")
		}
	}
	return nil
}
