// Package fleet carries captures between machines: recorders publish what they have committed to a stream of NATS
// JetStream, and readers put the captures of all recorders together again.
//
// A capture's own file stays the truth. What is published are the blocks of that file, byte for byte, after redaction and
// after they were committed; so nothing here is ever in the path of traffic, and the file is the spool where the server
// is away. Each recorder has a subject of its own, on which its blocks follow each other without a gap and without a
// repetition: a publisher says which message it expects to be the last one, and where it does not know it asks.
//
// A message is a part of the record of one capture: see Message.
package fleet
