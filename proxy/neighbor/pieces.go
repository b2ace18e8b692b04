package neighbor

import (
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// Pieces returns the strings in an event of a model's stream that continue the arguments of tool calls.
func Pieces(v jsondoc.Value) (list []capture.Piece) {
	add := func(of string, piece jsondoc.Value) {
		if piece.Kind() == jsondoc.String && len(list) < maxCalls {
			list = append(list, capture.Piece{Of: of, Text: piece})
		}
	}
	for i, choice := range v.Get("choices").Elems() {
		if i == maxLook {
			break
		}
		delta := choice.Get("delta")
		for j, call := range delta.Get("tool_calls").Elems() {
			at := key(j)
			if index := call.Get("index"); index.Exists() {
				at = place(index)
			}
			add(key(i)+"/"+at, call.Get("function").Get("arguments"))
		}
		add(key(i), delta.Get("function_call").Get("arguments"))
	}
	if v.Has("choices") {
		return list
	}
	switch kind := v.Get("type"); {
	case kind.Is("content_block_delta"):
		add(place(v.Get("index")), v.Get("delta").Get("partial_json"))
	case kind.Is("response.function_call_arguments.delta"):
		add(place(v.Get("output_index")), v.Get("delta"))
	}
	return list
}
