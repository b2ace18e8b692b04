// Package fleet carries captures between machines: recorders publish what they have committed to a stream of NATS
// JetStream, and readers put the captures of all recorders together again.
//
// A capture's own file stays the truth. What is published are the blocks of that file, byte for byte, after redaction and
// after they were committed; so nothing here is ever in the path of traffic, and the file is the spool where the server
// is away. Each recorder has a subject of its own, on which its blocks follow each other without a gap and without a
// repetition: a publisher says which message it expects to be the last one, and where it does not know it asks.
//
// A message is a part of the record of one capture: see Message.
//
// # Sending
//
// A [Shipper] follows the capture as a second reader of it. It takes the blocks as they stand in the file, shares no lock
// and no queue with the recorder, keeps one message in memory, and has no state that lasts: the last message of its
// subject says where to go on.
//
// # Reading
//
// A [Reader] takes the messages of all subjects in order, checks that arrival numbers follow each other, and writes a
// mirror of each capture. Package merge makes one order of steps of the mirrors, as it does of files. Why the server is
// that of NATS is said in docs/decisions/0013-fleets-travel-on-jetstream.md.
package fleet
