// Package pages reads the pages of a database file without the database.
//
// The database believes what stands in its pages: of a damaged file it panics, walks in a circle, or finds nothing where
// there is something. So each file is looked through here first: [Inspect] sees whether it is a database of the size
// that it claims, [TakeInventory] whether all pages that the buckets lead to make sense, and what they hold. From a file
// that the database cannot open any more, [OpenSalvage] takes the blocks that can still be read.
//
// A file of any content is safe. Nothing here takes a lock or writes.
package pages
