// Package layout is the format of a capture's files in code: which buckets there are, what their keys and values say, and
// how steps become bytes and bytes steps. docs/capture-format.md describes it for other programs.
//
// A capture is one or more files of the database bbolt, its segments. Steps are in blocks of about 128 KiB, packed,
// with a checksum and in order of arrival. Next to them are rows of exchanges, the parts of their steps, an index of
// keys, and values derived from the capture. The state records the progress of all of these.
//
// # What it promises
//
// Bytes of any content are safe to decode: they give values or an error that wraps [ErrDamaged], and no count in them
// makes room for what is not there. A tag or a field is never given a second meaning.
//
// It is a leaf: it opens no files, and depends only on package capture and on the database's transactions.
package layout
