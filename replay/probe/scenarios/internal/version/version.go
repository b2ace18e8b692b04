// Package version tests protocol version negotiation (A2A 1.0 §3.6), and extensions.
package version

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Scenarios are about protocol versions (A2A 1.0 §3.6), and the fields that state them.
var Scenarios = scenario.In(probe.Scenario{
	Category: analysis.Interop, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-version-unsupported", Title: "an unknown version is refused", Category: analysis.ErrorHandling,
		Protocols: scenario.V10, Sections: []string{"1.0 §3.6.2"},
		Tags: []string{"version", "errors", "A32", "VER-SERVER-002", "acts:VER-NEG-001"},
		Fix:  "Refuse requests in versions that the interface does not support with VersionNotSupported.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Edited(scenario.SetHeader("A2A-Version", "99.9")).Send(ctx, s.Say(probe.Anything),
				client.SendOptions{})
			return probe.Refused(err, "VERSION_NOT_SUPPORTED")
		},
	},
	{
		ID: "act-version-declared", Title: "the declared version works in every operation",
		Protocols: scenario.V10, Sections: []string{"1.0 §3.6.2"}, Tags: []string{"version"},
		Fix: "Support the version of the interface in every operation, or do not declare it.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if s.Card == nil {
				return probe.Unclear("no card declares a version")
			}
			for name, ask := range map[string]func() error{
				"GetTask":    func() error { _, err := s.Client.Get(ctx, s.NewID(), nil); return err },
				"ListTasks":  func() error { _, err := s.Client.List(ctx, client.ListOptions{PageSize: 1}); return err },
				"CancelTask": func() error { _, err := s.Client.Cancel(ctx, s.NewID(), nil); return err },
			} {
				if r := scenario.Refusal(ask()); r != nil && r.Reason == "VERSION_NOT_SUPPORTED" {
					return probe.Fail("1.0 in "+name+", which the card declares", "%s", probe.Describe(r))
				}
			}
			return nil
		},
	},
	{
		ID: "act-version-empty", Title: "a request without a version is treated as 0.3", Protocols: scenario.V10,
		Sections: []string{"1.0 §3.6.2"}, Tags: []string{"version", "A33", "VER-SERVER-003", "acts:VER-NEG-002"},
		Fix: "Treat a request without A2A-Version as 0.3, or refuse it with VersionNotSupported.",
		Run: askNoVersion,
	},
	{
		ID: "act-version-patch-ignored", Title: "version 1.0.7 is treated as 1.0", Protocols: scenario.V10,
		Sections: []string{"1.0 §3.6"}, Tags: []string{"version", "A34", "VER-CLIENT-002"},
		Fix: "Compare versions by their first two numbers only.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Edited(scenario.SetHeader("A2A-Version", "1.0.7")).Send(ctx, s.Say(probe.Anything),
				client.SendOptions{})
			if r := scenario.Refusal(err); r != nil && r.Reason == "VERSION_NOT_SUPPORTED" {
				return probe.Unclear("the agent accepts no version with a patch number: %s", probe.Describe(r))
			}
			return err
		},
	},
	{
		ID: "act-version-query-param", Title: "a version in the query is read or ignored",
		Level: analysis.May, Protocols: scenario.JSON10, Sections: []string{"1.0 §3.6.1"},
		Tags: []string{"version", "A35"},
		Fix:  "Read A2A-Version from the query if the header is missing.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Edited(func(out *client.Outgoing) {
				out.Header.Del("A2A-Version")
				mark := "?"
				if strings.Contains(out.URL, "?") {
					mark = "&"
				}
				out.URL += mark + "A2A-Version=1.0"
			}).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
			if r := scenario.Refusal(err); r != nil && !scenario.Broken(err) {
				return &probe.Skip{Why: "the agent does not read the version from the query, which it may: " +
					probe.Describe(r)}
			}
			return err
		},
	},
	{
		ID: "act-header-case", Title: "header names are case-insensitive", Protocols: scenario.JSON10,
		Sections: []string{"1.0 §3.2.6"}, Tags: []string{"version", "A40"},
		Fix: "Compare names of header fields case-insensitively.",
		Run: func(ctx context.Context, s *probe.Session) error {
			for _, spell := range []func(string) string{strings.ToLower, strings.ToUpper} {
				_, err := s.Edited(func(out *client.Outgoing) {
					fields := http.Header{}
					for name, values := range out.Header {
						fields[spell(name)] = values
					}
					out.Header = fields
				}).Get(ctx, s.NewID(), nil)
				if err := probe.Refused(err, "TASK_NOT_FOUND"); err != nil {
					return err
				}
			}
			return nil
		},
	},
})

func askNoVersion(ctx context.Context, s *probe.Session) error {
	for _, value := range [][]string{nil, {""}} {
		r, err := s.Edited(func(out *client.Outgoing) {
			out.Header.Del("A2A-Version")
			if value != nil {
				out.Header["A2A-Version"] = value
			}
		}).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
		refused := scenario.Refusal(err)
		switch {
		case refused != nil && refused.Reason == "VERSION_NOT_SUPPORTED" && offers03(s):
			return probe.Fail("0.3, which the card offers here", "%s", probe.Describe(refused))
		case scenario.Broken(err):
			return probe.Fail("an answer of 0.3, or VersionNotSupported", "%s", probe.Describe(refused))
		case refused != nil:
			continue // 0.3 does not know the method, or requires another message
		case err != nil:
			return err
		}
		if kind := scenario.ResultOf(s, s.Last()); !kind.Has("kind") && r != nil {
			return &probe.Skip{Why: "the agent answers in 1.0, which is tolerable: the request can only be 1.0"}
		}
	}
	return nil
}

// offers03 reports whether the card offers 0.3 at the address under test. Over gRPC 0.3 is a different service.
func offers03(s *probe.Session) bool {
	if s.Card == nil || s.Protocol().OverGRPC() {
		return false
	}
	old := client.Protocol{Version: "0.3", Binding: s.Protocol().Binding}
	return slices.ContainsFunc(s.Card.Interfaces, func(i client.Interface) bool {
		return i.URL == s.Endpoint().URL && i.Protocol == old
	})
}
