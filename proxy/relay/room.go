package relay

import "a2atap/proxy/budget"

// heldRoom is the room for all messages that are held, on all connections. A message that does not fit passes as it
// came.
var heldRoom = budget.NewPool(budget.HeldBytes)

// HeldRoom returns the share of a message that is held in the room for all of them.
func HeldRoom() *budget.Share { return heldRoom.Share() }
