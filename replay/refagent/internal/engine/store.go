package engine

// A Store keeps what agents have to remember when they end. Values belong to an owner, which is an agent or a tenant of
// one, and have a key that is theirs alone among those of the owner. It is called by several goroutines, for one key by
// one at a time.
type Store interface {
	// Each calls f for each value of an owner, in any order, and returns the first error of f. The value is valid during
	// the call.
	Each(owner string, f func(key string, value []byte) error) error
	// Put keeps a value in place of what the key had. When it returns without an error the value survives the end of
	// the process.
	Put(owner, key string, value []byte) error
	// Delete forgets a value; one that is not there is no error.
	Delete(owner, key string) error
}

// A StoreError says why what a store keeps cannot be used. New returns it.
type StoreError struct{ Err error }

// Error implements error.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *StoreError) Unwrap() error { return e.Err }
