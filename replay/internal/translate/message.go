package translate

import (
	"fmt"
	"strconv"

	"a2atap/proxy/a2a"
)

// What 1.0 says for the members of 0.2 and 0.3 (A2A 0.3 §6 and §7.1, 1.0 §3.2.1, §4.1 and §4.3.1).
var (
	message10 = table{
		"kind":             only("message"),
		"messageId":        keep,
		"contextId":        keep,
		"taskId":           keep,
		"role":             role(a2a.V0_3, a2a.V1_0),
		"parts":            each("parts", part10),
		"referenceTaskIds": keep,
		"extensions":       keep,
		"metadata":         keep,
	}
	config10 = table{
		"id":             keep,
		"url":            keep,
		"token":          keep,
		"authentication": within("authentication", authentication10.write),
	}
	authentication10 = table{"schemes": oneScheme, "credentials": keep}
)

// send10 writes the parameters of a send. Whoever waits for the task says nothing in 1.0, and streams wait in no
// dialect.
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

// What 0.2 and 0.3 say for the members of 1.0.
var (
	message03 = table{
		"messageId":        keep,
		"contextId":        keep,
		"taskId":           keep,
		"role":             role(a2a.V1_0, a2a.V0_3),
		"parts":            each("parts", part03),
		"referenceTaskIds": keep,
		"extensions":       keep,
		"metadata":         keep,
	}
	config03 = table{
		"tenant":         unset,
		"taskId":         unset, // the task does not exist yet (A2A 1.0 §4.3.1)
		"id":             keep,
		"url":            keep,
		"token":          keep,
		"authentication": within("authentication", authentication03.write),
	}
	authentication03 = table{"scheme": inList("schemes"), "credentials": keep}
)

// send03 writes the parameters of a send. 1.0 waits for the task unless it is told not to, and 0.x leaves that to the
// agent unless it is told: so it is.
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
		return fmt.Errorf("%s is %s where true or false belongs", at(immediately), immediately.Kind())
	}
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
		return fmt.Errorf("%s is %s where 1.0 has one scheme", at(v), short(v))
	}
	out.add("scheme", v.Elem(0).Raw())
	return nil
}

// inList is a value that stands in a list.
func inList(name string) member {
	return func(out *object, _ string, v a2a.Value) error {
		out.add(name, append(append([]byte{'['}, v.Raw()...), ']'))
		return nil
	}
}

// part10 writes a part of 0.2 or 0.3 (A2A 0.3 §6.5) as 1.0 §4.1.6 has it.
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

// part03 writes a part of 1.0 as 0.2 and 0.3 have it. That a text is text/plain, and data are application/json, goes
// without saying there; no other media type can be said of them.
func part03(out *object, v a2a.Value) error {
	switch (a2a.Part{Value: v}).PartKind() {
	case a2a.TextPart:
		out.addText("kind", "text")
		return table{"text": keep, "mediaType": only("text/plain"), "metadata": keep}.write(out, v)
	case a2a.DataPart:
		if data := v.Get("data"); data.Kind() != a2a.Object {
			return fmt.Errorf("%s is %s, and data are an object there", at(data), data.Kind())
		}
		out.addText("kind", "data")
		return table{"data": keep, "mediaType": only("application/json"), "metadata": keep}.write(out, v)
	case a2a.RawPart, a2a.URLPart:
		return file03(out, v)
	}
	return unknownPart(v)
}

// file03 writes a file of 1.0 with what is about it in a member of its own.
func file03(out *object, v a2a.Value) error {
	var file object
	inFile := func(name string) member {
		return func(_ *object, _ string, v a2a.Value) error {
			file.add(name, v.Raw())
			return nil
		}
	}
	out.addText("kind", "file")
	err := table{
		"raw": inFile("bytes"), "url": inFile("uri"), "filename": inFile("name"), "mediaType": inFile("mimeType"),
		"metadata": keep,
	}.write(out, v)
	out.add("file", file.json())
	return err
}

func unknownPart(v a2a.Value) error {
	return fmt.Errorf("%s is not a part that its dialect knows", at(v))
}
