// Package pages reads the pages of a database file without the database.
//
// The database trusts its pages: given a damaged file, it panics, loops, or misses entries that exist. So every file is
// checked here first. [Inspect] checks that the file is a database of the size that it claims. [TakeInventory] checks
// that all pages that the buckets lead to make sense, and returns their contents. If the database cannot open a file
// any more, [OpenSalvage] reads the blocks that are still readable.
//
// A file of any content is safe. Nothing here takes a lock or writes.
package pages
