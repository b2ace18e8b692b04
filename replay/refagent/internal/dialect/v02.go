package dialect

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// The JSON of A2A 0.2, which is that of 0.3 but for the extended card: 0.2 has no method for it.
type V02 struct{ V03 }

// Operation implements [model.Dialect].
func (d V02) Operation(method string) (model.Operation, bool) {
	op, ok := d.V03.Operation(method)
	return op, ok && op != model.GetExtendedCard
}

// Decode implements dialect (A2A 0.2.6 §7).
func (d V02) Decode(op model.Operation, params jsonvalue.Object) (*model.Request, *model.Failure) {
	return d.V03.Decode(op, params)
}
