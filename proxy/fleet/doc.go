// Package fleet carries captures between machines: recorders publish committed blocks to a NATS JetStream stream, and
// readers reassemble the captures of all recorders.
//
// The capture's file remains the source of truth. Its blocks are published byte for byte, after redaction and after the
// commit. Nothing in this package is therefore in the path of traffic, and the file is the spool while the server is
// away. Each recorder has its own subject, on which its blocks arrive without gaps and repetitions: a publisher states
// the sequence number that it expects the last message to have, and asks the server if it does not know that number.
//
// A message is a part of the record of one capture: see Message.
//
// # Sending
//
// A [Shipper] follows the capture as a second reader of it. It reads the blocks from the file, shares no lock and no
// queue with the recorder, keeps one message in memory, and has no persistent state: the last message of its subject
// says where to continue.
//
// # Reading
//
// A [Reader] takes the messages of all subjects in order, checks that arrival numbers follow each other, and writes a
// mirror of each capture. Package merge orders the steps of the mirrors, as it does for files.
// docs/decisions/0013-fleets-travel-on-jetstream.md explains why the server is NATS.
package fleet
