package inflow

// A space is what a readiness reads into: memory that is there only when something is.
type space interface {
	makeRoom() []byte // that has nothing in it
	took(n int)       // so many bytes were read into that
	releaseToWait()   // nothing is there to be read
}
