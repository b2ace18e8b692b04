package otlp

import (
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"a2atap/proxy/safetext"
)

// Bounds of attributes, in bytes. Longer values are cut, and end with a mark.
const (
	maxText = 1 << 10
	maxBody = 16 << 10
	maxIDs  = 16 // in a list
)

// cutMark ends a text that was cut.
const cutMark = "…"

type keyValue = commonpb.KeyValue

// attributes are the attributes of a span, an event or a resource.
type attributes struct{ list []*commonpb.KeyValue }

// text adds a text; nothing if it is empty.
func (a *attributes) text(key, value string) { a.long(key, value, maxText) }

// long adds a text of at most limit bytes.
func (a *attributes) long(key, value string, limit int) {
	if value == "" {
		return
	}
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: valid(value, limit)}})
}

// texts adds a list; nothing if it is empty.
func (a *attributes) texts(key string, values []string) {
	if len(values) == 0 {
		return
	}
	list := &commonpb.ArrayValue{}
	for _, v := range values[:min(len(values), maxIDs)] {
		list.Values = append(list.Values, &commonpb.AnyValue{
			Value: &commonpb.AnyValue_StringValue{StringValue: valid(v, maxText)},
		})
	}
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}})
}

func (a *attributes) number(key string, value int64) {
	a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}})
}

// yes adds an attribute if it is true.
func (a *attributes) yes(key string, value bool) {
	if value {
		a.add(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}})
	}
}

func (a *attributes) add(key string, value *commonpb.AnyValue) {
	a.list = append(a.list, &commonpb.KeyValue{Key: key, Value: value})
}

// valid returns a text in the form of the protocol, which is UTF-8 and at most limit bytes.
func valid(text string, limit int) string {
	if len(text) > limit {
		text = safetext.Cut(text, limit-len(cutMark)) + cutMark
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
