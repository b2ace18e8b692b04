// Package tui shows captures: as lines of text for commands that print, and as the inspector, which uses the whole
// screen.
//
// What it promises:
//
//   - Control characters from the traffic never reach the terminal: every text passes through one function that escapes
//     them, and escape sequences are written by one other function.
//   - Only what is visible is read: a list of a million exchanges and a stream of a million events cost as much as
//     their rows on the screen. A search reads all, piece by piece, and keeps what matches as a number.
//   - New traffic does not move the cursor, unless the user asked to follow it.
//   - Colour never carries a meaning alone.
//
// The inspector is a stack of panels. A panel is a plain struct with three main methods: resize; update, which takes an
// action or a message and returns a command to run; and view, which draws the panel as it is. The capture is read only
// in commands, the methods of loader. Each message carries the ticket of its command, so that panels can ignore one
// that is out of date. The rules run in a command, too, from the beginning of the capture to its end, and then along
// with the recording.
//
// # Caveats
//
// Keys that are pressed faster than they are read come from the terminal library as one key of several characters. That
// library asks the terminal for its background colour when it is initialised; package terminal prevents this.
package tui
