package version

import (
	"context"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Extensions are about extensions, and about capabilities that the card does not declare.
var Extensions = []*probe.Scenario{
	{
		ID: "act-required-extension", Title: "a message without an extension that the card requires is refused",
		Category: analysis.ErrorHandling, Level: analysis.Must, Protocols: scenario.V10,
		Sections: []string{"1.0 §3.3.4", "1.0 §4.6.3"}, Tags: []string{"extensions", "errors", "A36", "CORE-CAP-004"},
		Fix: "Refuse requests that do not name the required extension with ExtensionSupportRequired.",
		Run: func(ctx context.Context, s *probe.Session) error {
			required := ""
			for _, e := range scenario.Declared(s).Get("capabilities").Get("extensions").Elems() {
				if yes, _ := e.Get("required").Bool(); yes {
					required = e.Get("uri").Text()
				}
			}
			if required == "" {
				return &probe.Skip{Why: "the card requires no extension"}
			}
			_, err := s.Edited(scenario.SetHeader("A2A-Extensions", "")).Send(ctx, s.Say(probe.Anything),
				client.SendOptions{})
			return probe.Refused(err, "EXTENSION_SUPPORT_REQUIRED")
		},
	},
	{
		ID: "act-unknown-extension-ignored", Title: "an unknown extension is ignored",
		Category: analysis.Interop, Level: analysis.Should, Protocols: scenario.V10, Sections: []string{"1.0 §4.6.3"},
		Tags: []string{"extensions", "A37", "JSONRPC-SVC-002", "HTTP_JSON-SVC-002", "GRPC-META-001"},
		Fix:  "Ignore requested extensions that are not supported.",
		Run: func(ctx context.Context, s *probe.Session) error {
			_, err := s.Edited(func(out *client.Outgoing) {
				names := append(out.Header.Values("A2A-Extensions"), unknownExtension+"/1, "+unknownExtension+"/2")
				out.Header["A2A-Extensions"] = []string{strings.Join(names, ", ")}
			}).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
			return err
		},
	},
	{
		ID: "act-extension-no-fallback", Title: "only the requested version of an extension is activated",
		Category: analysis.Interop, Level: analysis.Must, Protocols: scenario.Since03,
		Sections: []string{"1.0 §4.6.3", "extensions guide §Versioning"},
		Tags:     []string{"extensions", "A57"},
		Fix:      "Activate an extension only if the request has exactly the declared URI.",
		Run:      askNoFallback,
	},
	{
		ID: "act-extension-listed", Title: "a requested extension of the card is listed as active",
		// The agent decides which extensions it activates, and some have nothing to activate.
		Category: analysis.Interop, Level: analysis.Advice, Protocols: scenario.Since03,
		Sections: []string{"1.0 §4.6.3", "extensions guide §Extension Activation"}, Tags: []string{"extensions"},
		Fix: "List the active extensions in A2A-Extensions of the answer, or before 1.0 in X-A2A-Extensions.",
		Run: askListed,
	},
	undeclared("streaming", probe.Streaming, scenario.EveryVersion, "UNSUPPORTED_OPERATION", func(ctx context.Context, s *probe.Session) error {
		_, err := s.First(s.Client.Stream(ctx, scenario.Named(s, s.Say(probe.Anything)), client.SendOptions{}))
		return err
	}, "CORE-CAP-002", "acts:CORE-CAP-002", "tck-main:unsupported_operation_error_32004"),
	undeclared("push", probe.Push, scenario.Since01, "PUSH_NOTIFICATION_NOT_SUPPORTED",
		func(ctx context.Context, s *probe.Session) error {
			id := s.NewID()
			if s.Protocol().Version != "1.0" { // if any refusal is sufficient, the cause must not be the task
				task, done, err := s.Begin(ctx, probe.WaitsForCancel, client.SendOptions{})
				if err != nil {
					return err
				}
				defer done()
				defer scenario.Release(ctx, s, task.ID)
				id = task.ID
			}
			_, err := s.Client.CreatePush(ctx, client.PushConfig{TaskID: id, ID: s.NewID(), URL: scenario.Nowhere})
			return err
		}, "CORE-CAP-001", "acts:CORE-CAP-001", "acts:PUSH-CFG-004", "tck-main:push_notification_not_supported_error_32003"),
	undeclared("extended-card", probe.ExtendedCard, scenario.V10, "UNSUPPORTED_OPERATION",
		func(ctx context.Context, s *probe.Session) error {
			_, err := s.Client.ExtendedCard(ctx)
			return err
		}, "CORE-CAP-003", "CARD-EXT-002", "acts:SEC-EXTCARD-003"),
}

// unknownExtension is the beginning of the URIs of extensions that no agent has.
const unknownExtension = "https://a2atap.example/no-such-extension"

// undeclared makes a scenario of an operation that requires an undeclared capability. Before 1.0 no text specifies
// the error.
func undeclared(
	name string, c probe.Capability, in []client.Protocol, reason string,
	try func(context.Context, *probe.Session) error, tags ...string,
) *probe.Scenario {
	return &probe.Scenario{
		ID: "act-capability-" + name, Title: "an operation that needs " + string(c) + " is refused if the card does not declare it",
		Category: analysis.ErrorHandling, Level: analysis.Must, Protocols: in,
		Levels:   scenario.Levels(analysis.Should, scenario.Before10...),
		Sections: []string{"1.0 §3.3.4", "0.3 §5.5.2", "0.3 §8.2"}, Tags: append([]string{"errors", "A30"}, tags...),
		Fix: "Refuse the operation with " + reason + ", or declare " + string(c) + " in the card.",
		Run: func(ctx context.Context, s *probe.Session) error {
			switch {
			case s.Card == nil:
				return probe.Unclear("no card declares the agent's capabilities")
			case c.Has(s.Card):
				return &probe.Skip{Why: "the card declares " + string(c)}
			}
			err := try(ctx, s)
			if s.Protocol().Version != "1.0" {
				return probe.Refused(err)
			}
			return probe.Refused(err, reason)
		},
	}
}

// askListed requests an extension of the card, as declared.
func askListed(ctx context.Context, s *probe.Session) error {
	uri := optionalExtension(s)
	if uri == "" {
		return &probe.Skip{Why: "the card declares no optional extension"}
	}
	name := extensionsField(s)
	_, err := s.Edited(scenario.SetHeader(name, uri)).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
	if err != nil {
		return err
	}
	if listed := s.Last().Header.Values(name); !strings.Contains(strings.Join(listed, ","), uri) {
		return probe.Fail(name+" of the answer with "+uri, "%q", strings.Join(listed, ", "))
	}
	return nil
}

// extensionsField is the name of the header field for extensions.
func extensionsField(s *probe.Session) string {
	if s.Protocol().Version == "1.0" {
		return "A2A-Extensions"
	}
	return "X-A2A-Extensions"
}

// optionalExtension returns the URI of the card's last optional extension; empty if it has none.
func optionalExtension(s *probe.Session) string {
	uri := ""
	for _, e := range scenario.Declared(s).Get("capabilities").Get("extensions").Elems() {
		if yes, _ := e.Get("required").Bool(); !yes {
			uri = e.Get("uri").Text()
		}
	}
	return uri
}

func askNoFallback(ctx context.Context, s *probe.Session) error {
	uri := optionalExtension(s)
	if uri == "" {
		return &probe.Skip{Why: "the card declares no optional extension"}
	}
	name := extensionsField(s)
	_, err := s.Edited(scenario.SetHeader(name, uri+"/v9999")).Send(ctx, s.Say(probe.Anything),
		client.SendOptions{})
	if err != nil {
		return err
	}
	for _, line := range s.Last().Header.Values(name) {
		for _, active := range strings.Split(line, ",") {
			if active = strings.TrimSpace(active); active != "" && active != uri+"/v9999" {
				return probe.Fail("only the requested extension", "%s", active)
			}
		}
	}
	return nil
}
