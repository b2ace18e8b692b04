package translate

import (
	"fmt"
	"strconv"

	"a2atap/proxy/a2a"
)

// messageMembers are the members of messages that are the same since 0.2.
const messageMembers = "messageId contextId taskId referenceTaskIds extensions metadata"

// The 1.0 counterparts of the members of 0.2 and 0.3 (A2A 0.3 §6 and §7.1, 1.0 §3.2.1, §4.1 and §4.3.1).
var (
	message10 = keeping(messageMembers, table{
		"kind": only("message"), "role": role(a2a.V0_3, a2a.V1_0), "parts": each("parts", part10),
	})
	config10         = keeping("id url token", table{"authentication": within("authentication", authentication10.write)})
	authentication10 = table{"schemes": oneScheme, "credentials": keep}
)

// send10 writes the parameters of a send. In 1.0, waiting for the task is the default, and streams never wait.
func send10(streams bool) writer {
	return table{
		"message": within("message", message10.write),
		"configuration": unlessEmpty("configuration", table{
			"acceptedOutputModes":    keep,
			"historyLength":          keep,
			"blocking":               unlessTrue(streams, "returnImmediately"),
			"pushNotificationConfig": within("taskPushNotificationConfig", config10.write),
		}.write),
		"metadata": keep,
	}.write
}

// The 0.2 and 0.3 counterparts of the members of 1.0.
var (
	message03 = keeping(messageMembers, table{"role": role(a2a.V1_0, a2a.V0_3), "parts": each("parts", partOf("kind"))})
	config03  = keeping("id url token", table{
		"tenant":         unset,
		"taskId":         unset, // the task does not exist yet (A2A 1.0 §4.3.1)
		"authentication": within("authentication", authentication03.write),
	})
	authentication03 = table{"scheme": inList("schemes"), "credentials": keep}
)

// send03 writes the parameters of a send. 1.0 waits for the task by default, and 0.x leaves that to the agent; so
// send03 always writes the choice.
func send03(streams bool) writer {
	t := table{
		"message": within("message", func(out *object, v a2a.Value) error {
			out.addText("kind", "message")
			return message03.write(out, v)
		}),
		"configuration": within("configuration", configuration03(streams)),
		"metadata":      keep,
	}
	return func(out *object, v a2a.Value) error {
		if err := t.write(out, v); err != nil || streams || v.Get("configuration").Kind() == a2a.Object {
			return err
		}
		out.add("configuration", []byte(`{"blocking":true}`))
		return nil
	}
}

func configuration03(streams bool) writer {
	t := table{
		"acceptedOutputModes":        keep,
		"historyLength":              keep,
		"returnImmediately":          drop,
		"taskPushNotificationConfig": within("pushNotificationConfig", config03.write),
	}
	return func(out *object, v a2a.Value) error {
		if err := t.write(out, v); err != nil || streams {
			return err
		}
		immediately := v.Get("returnImmediately")
		if b, ok := immediately.Bool(); ok || !immediately.Exists() || immediately.IsNull() {
			out.add("blocking", strconv.AppendBool(nil, !b))
			return nil
		}
		return fmt.Errorf("%s is %s instead of true or false", at(immediately), immediately.Kind())
	}
}

// The 0.1 counterparts of the members of 1.0 (A2A 0.1 §6 and §7.1), with the events of push configs before 0.1.
var (
	send01 = table{
		"message": message01,
		"configuration": spread(table{
			"historyLength": keep, "taskPushNotificationConfig": within("pushNotification", config01.write),
		}.write),
		"metadata": keep,
	}
	config01 = keeping("url token events", table{"authentication": within("authentication", authentication03.write)})
)

// message01 writes a message with its task and its session next to it.
func message01(out *object, name string, v a2a.Value) error {
	if err := (table{"taskId": as("id"), "contextId": as("sessionId")}).write(out, v); err != nil {
		return err
	}
	return within(name, table{
		"role": role(a2a.V1_0, a2a.V0_1), "parts": each("parts", partOf("type")), "metadata": keep,
	}.write)(out, name, v)
}

// role is the role of a message, as one dialect spells it and another will.
func role(from, to a2a.Dialect) member {
	return func(out *object, name string, v a2a.Value) error {
		r, _ := a2a.ParseRole(v.Text())
		if r == a2a.NoRole || !v.Is(r.Spelling(from)) {
			return fmt.Errorf("%s is %s, which is not a role in %s", at(v), short(v), from)
		}
		out.addText(name, r.Spelling(to))
		return nil
	}
}

// oneScheme is a list of authentication schemes, of which 1.0 has exactly one.
func oneScheme(out *object, _ string, v a2a.Value) error {
	if v.Len() != 1 || v.Elem(0).Kind() != a2a.String {
		return fmt.Errorf("%s is %s, but 1.0 allows only one scheme", at(v), short(v))
	}
	out.add("scheme", v.Elem(0).Raw())
	return nil
}

// inList wraps a value in a list.
func inList(name string) member {
	return func(out *object, _ string, v a2a.Value) error {
		out.add(name, append(append([]byte{'['}, v.Raw()...), ']'))
		return nil
	}
}

// part10 writes a part of 0.2 or 0.3 (A2A 0.3 §6.5) in the form of 1.0 §4.1.6.
func part10(out *object, v a2a.Value) error {
	t := table{"kind": drop, "metadata": keep}
	kind := a2a.Part{Value: v}.PartKind()
	if !v.Has("kind") {
		kind = a2a.UnknownPart
	}
	switch kind {
	case a2a.TextPart:
		t["text"] = keep
	case a2a.DataPart:
		t["data"] = keep
	case a2a.RawPart, a2a.URLPart:
		t["file"] = spread(table{
			"bytes": as("raw"), "uri": as("url"), "name": as("filename"), "mimeType": as("mediaType"),
		}.write)
	default:
		return unknownPart(v)
	}
	return t.write(out, v)
}

// partOf writes a part of 1.0 in the form of 0.x, where a member names its kind: "type" in 0.1, later "kind". There,
// text is implicitly text/plain, and data application/json; they cannot have any other media type.
func partOf(kind string) writer {
	return func(out *object, v a2a.Value) error {
		switch (a2a.Part{Value: v}).PartKind() {
		case a2a.TextPart:
			out.addText(kind, "text")
			return table{"text": keep, "mediaType": only("text/plain"), "metadata": keep}.write(out, v)
		case a2a.DataPart:
			if err := out.dataObject(v); err != nil {
				return err
			}
			out.addText(kind, "data")
			return table{"data": keep, "mediaType": only("application/json"), "metadata": keep}.write(out, v)
		case a2a.RawPart, a2a.URLPart:
			out.addText(kind, "file")
			return file03(out, v)
		}
		return unknownPart(v)
	}
}

// dataObject returns an error unless the data of a part are an object, as before 1.0.
func (o *object) dataObject(part a2a.Value) error {
	if data := part.Get("data"); data.Kind() != a2a.Object {
		return o.lacks("%s is %s, and data must be an object there", at(data), data.Kind())
	}
	return nil
}

// file03 writes a 1.0 file with its properties in a separate member.
func file03(out *object, v a2a.Value) error {
	file := out.inner()
	inFile := func(name string) member {
		return func(_ *object, _ string, v a2a.Value) error {
			file.add(name, v.Raw())
			return nil
		}
	}
	err := table{
		"raw": inFile("bytes"), "url": inFile("uri"), "filename": inFile("name"), "mediaType": inFile("mimeType"),
		"metadata": keep,
	}.write(out, v)
	out.add("file", file.json())
	return err
}

func unknownPart(v a2a.Value) error {
	return fmt.Errorf("%s is not a part of its dialect", at(v))
}
