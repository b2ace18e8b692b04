package refusals

import (
	"context"
	"encoding/json"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/grpc"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Robustness are about unusual but valid messages.
var Robustness = scenario.In(probe.Scenario{
	Category: analysis.Interop, Level: analysis.Must,
}, []*probe.Scenario{
	{
		ID: "act-unknown-fields-ignored", Title: "unknown members are ignored", Level: analysis.Should,
		Protocols: scenario.V10, Sections: []string{"1.0 §5.7"},
		Tags: []string{"robustness", "A38", "DM-SERIAL-005", "acts:DM-EXTRA-001", "tck-main:extra_fields"},
		Fix:  "Ignore unknown members of objects: newer clients may send them.",
		Run: func(ctx context.Context, s *probe.Session) error {
			if s.Protocol().OverGRPC() {
				_, err := s.Edited(withUnknown).Send(ctx, s.Say(probe.Anything), client.SendOptions{})
				return err
			}
			_, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{Patch: json.RawMessage(
				`{"a2atapUnknown":1,"message":{"a2atapUnknown":{"x":[]}},"configuration":{"a2atapUnknown":"x"}}`)})
			return err
		},
	},
	{
		ID: "act-required-fields-validated", Title: "a message without id, role or parts is refused",
		Category: analysis.ErrorHandling, Level: analysis.Should, Protocols: scenario.V10, Sections: []string{"1.0 §5.7"},
		Tags: []string{
			"robustness", "errors", "A39", "tck-main:missing_required_message_fields", "tck-main:empty_message_parts",
			"tck-main:empty_arrays",
		},
		Fix: "Refuse messages that lack a required member as invalid parameters.",
		Run: func(ctx context.Context, s *probe.Session) error {
			for _, patch := range []string{
				`{"message":{"messageId":null}}`, `{"message":{"role":null}}`, `{"message":{"parts":null}}`,
				`{"message":{"parts":[]}}`,
			} {
				_, err := s.Client.Send(ctx, s.Say(probe.Anything), client.SendOptions{Patch: json.RawMessage(patch)})
				if err := scenario.RefusedParams(s, err, "a message changed by "+patch); err != nil {
					return err
				}
			}
			return nil
		},
	},
	{
		ID: "act-long-text", Title: "a long text is answered or refused without an internal error", Level: analysis.Should,
		Protocols: scenario.V10, Sections: []string{"1.0 §3.3.2"},
		Tags: []string{"robustness", "tck-main:very_long_string", "tck-main:very_large_message"},
		Fix:  "Answer long messages, or refuse them with an error.",
		Run: func(ctx context.Context, s *probe.Session) error {
			m := s.Say(probe.Anything)
			m.Parts[0].Text += strings.Repeat(" and so on", 10_000)
			_, err := s.Client.Send(ctx, m, client.SendOptions{})
			if scenario.Broken(err) || scenario.Refusal(err) == nil && err != nil {
				return probe.Fail("an answer, or a refusal that is not an internal error", "%v", err)
			}
			return nil
		},
	},
	{
		ID: "act-null-members", Title: "optional members with null count as absent, or are refused",
		Level: analysis.Should, Protocols: scenario.JSON10, Sections: []string{"1.0 §5.7"},
		Tags: []string{"robustness", "tck-main:null_optional_fields"},
		Fix:  "Treat null as absent, as JSON mappings of protobuf do.",
		Run: func(ctx context.Context, s *probe.Session) error {
			c := s.Edited(func(out *client.Outgoing) {
				out.Body = []byte(strings.Replace(string(out.Body), `"message":{`,
					`"metadata":null,"message":{"metadata":null,"extensions":null,`, 1))
			})
			_, err := c.Send(ctx, s.Say(probe.Anything), client.SendOptions{})
			if err == nil {
				return nil
			}
			return scenario.RefusedParams(s, err, "members with null")
		},
	},
})

// withUnknown adds an unknown field to a gRPC message: number 9999, with the value 1.
func withUnknown(out *client.Outgoing) {
	frame, _, _ := grpc.Cut(out.Body)
	out.Body = grpc.AppendFrame(nil, append(frame.Message, 0xf8, 0xf0, 0x04, 1))
}
