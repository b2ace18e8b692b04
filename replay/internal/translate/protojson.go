package translate

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
)

// Translations to the JSON of 0.2 and 0.3 from the JSON of their proto file, which some agents and clients use over
// HTTP+JSON.
var (
	messageProtoMembers = keeping(messageMembers, table{
		"role": role(a2a.V1_0, a2a.V0_3), "content": each("parts", partProto),
	})
	configurationProto = keeping("acceptedOutputModes historyLength blocking", table{
		"pushNotification": within("pushNotificationConfig", configProto.write),
	})
	configProto = keeping("id url token", table{
		"authentication": within("authentication", keeping("schemes credentials", table{}).write),
	})
)

// inProtoJSON reports whether the parameters of a send of 0.2 or 0.3 are in the JSON of the proto file.
func inProtoJSON(params a2a.Value) bool {
	m := params.Get("message")
	return params.Has("request") || m.Has("content") || strings.HasPrefix(m.Get("role").Text(), "ROLE_")
}

func messageProto(out *object, v a2a.Value) error {
	out.addText("kind", "message")
	return messageProtoMembers.write(out, v)
}

// sendProto writes the parameters of a send.
func sendProto(streams bool) writer {
	return table{
		"message": within("message", messageProto),
		"request": within("message", messageProto), // so up to 0.2.6
		"configuration": within("configuration", func(out *object, v a2a.Value) error {
			err := configurationProto.write(out, v)
			if b := v.Get("blocking"); !streams && (!b.Exists() || b.IsNull()) {
				out.add("blocking", []byte("false")) // which the proto file leaves out
			}
			return err
		}),
		"metadata": keep,
	}.write
}

func partProto(out *object, v a2a.Value) error {
	switch (a2a.Part{Value: v}).PartKind() {
	case a2a.TextPart:
		out.addText("kind", "text")
		return table{"text": keep, "metadata": keep}.write(out, v)
	case a2a.DataPart:
		out.addText("kind", "data")
		return table{"data": spread(dataProto), "metadata": keep}.write(out, v)
	case a2a.RawPart, a2a.URLPart:
		out.addText("kind", "file")
		return table{
			"file": within("file", table{
				"fileWithBytes": as("bytes"), "fileWithUri": as("uri"), "mimeType": keep, "name": keep,
			}.write),
			"metadata": keep,
		}.write(out, v)
	}
	return unknownPart(v)
}

// dataProto writes data, which the proto file nests one level deeper.
func dataProto(out *object, v a2a.Value) error {
	if data := v.Get("data"); data.Kind() != a2a.Object {
		return fmt.Errorf("%s is %s, and data must be an object there", at(v), short(v))
	}
	return table{"data": keep}.write(out, v)
}
