package refagent

// The JSON of A2A 0.2, which is that of 0.3 but for the extended card: 0.2 has no method for it.
type v02 struct{ v03 }

func (d v02) operation(method string) (operation, bool) {
	op, ok := d.v03.operation(method)
	return op, ok && op != getExtendedCard
}

// decode implements dialect (A2A 0.2.6 §7).
func (d v02) decode(op operation, params object) (*request, *failure) {
	return d.v03.decode(op, params)
}
