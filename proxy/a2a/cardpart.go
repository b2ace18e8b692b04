package a2a

// Unsigned returns the JSON text of the card without its signatures, every other byte as it stands there.
func (c Card) Unsigned() []byte {
	return appendObject(nil, c.Value, func(name string, _ Value) bool { return name != "signatures" })
}

// appendObject appends an object with those of its members that keep chooses, names and values as they stand in the
// text.
func appendObject(dst []byte, v Value, keep func(name string, v Value) bool) []byte {
	if v.Kind() != Object {
		return append(dst, v.Raw()...)
	}
	dst = append(dst, '{')
	first := true
	for name, value := range v.Pairs() {
		if !keep(name.Text(), value) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, name.Raw()...), ':')
		dst = append(dst, value.Raw()...)
	}
	return append(dst, '}')
}
