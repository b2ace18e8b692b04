package engine

// A Store keeps the state of agents after they end. Values belong to an owner, which is an agent or a tenant of an
// agent, and have a key that is unique within the owner. Several goroutines call it, but only one at a time for each
// key.
type Store interface {
	// Each calls f for each value of an owner, in any order, and returns the first error of f. The value is valid during
	// the call.
	Each(owner string, f func(key string, value []byte) error) error
	// Put stores a value, replacing the key's previous value. After it returns without an error, the value survives the
	// end of the process.
	Put(owner, key string, value []byte) error
	// Delete removes a value; a missing value is not an error.
	Delete(owner, key string) error
}

// A StoreError is the reason why a store's contents cannot be used. New returns it.
type StoreError struct{ Err error }

// Error implements error.
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *StoreError) Unwrap() error { return e.Err }
