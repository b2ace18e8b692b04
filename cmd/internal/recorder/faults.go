package recorder

import (
	"fmt"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
	"a2atap/proxy/injection"
)

// FaultHelp says what --fault takes.
func FaultHelp() string {
	var b strings.Builder
	b.WriteString(`With --fault AGENT:WHAT[@WHEN] the tap makes a fault in the answers of the agent of that name, or of all (*), to show
how a client bears it; without it nothing is changed. WHEN is OPERATION, #N (the Nth such call), #N..M, or both
(SendStreamingMessage#2); without it all calls get the fault. The capture has what the client saw and what was done, and
the agent is not blamed for it (docs/faults.md). WHAT is one of:
`)
	for _, d := range injection.Kinds() {
		name := string(d.Kind)
		if d.Value != "" {
			name += "=" + d.Value
		}
		fmt.Fprintf(&b, "\n  %-18s %s", name, d.Does)
	}
	return b.String()
}

// parseFaults reads the values of --fault.
func parseFaults(flags []string, taps []proxy.TapSpec) ([]injection.Spec, error) {
	var specs []injection.Spec
	for _, flag := range flags {
		spec, err := injection.Parse(flag)
		if err != nil {
			return nil, cli.Usage("%w", err)
		}
		specs = append(specs, spec)
	}
	names := make([]string, len(taps))
	for i, t := range taps {
		names[i] = t.Name
	}
	switch unknown := injection.Unknown(specs, names); {
	case len(specs) > 0 && len(taps) == 0:
		return nil, cli.Usage("--fault needs a tap: give the agent with --agent NAME=URL; what comes through --forward alone " +
			"gets no faults")
	case len(unknown) > 0:
		return nil, cli.Usage("--fault: no agent %q; there are %s, and * for all (--agent names them)", unknown[0],
			strings.Join(names, ", "))
	}
	return specs, nil
}
