package refagent

// Faults of the card, and of what it promises.
var cardFaults = []Fault{
	{
		Slug: "push-supported-but-refused", agents: anyAgent,
		Doc: "The card offers push notifications, but every operation on them is refused as not supported.",
		hooks: func() hooks {
			return hooks{card: editCard(offerPush), admit: func(c *call) *failure {
				if c.op.isPush() {
					return pushNotSupported()
				}
				return nil
			}}
		},
	},
	{
		Slug: "hook-auth", agents: only10,
		Doc:   "Push notifications are sent without the credentials that the client has asked for.",
		hooks: func() hooks { return hooks{deliver: func(d *delivery) { d.header.Del("Authorization") }} },
	},
	{
		Slug: "card-required-fields", agents: anyAgent,
		Doc:   "The card has no version.",
		hooks: func() hooks { return hooks{card: editCard(func(o object) object { return o.without("version") })} },
	},
	{
		Slug: "card-field-type", agents: anyAgent,
		Doc:   "The card's description is a list.",
		hooks: func() hooks { return hooks{card: editCard(with("description", []any{"An agent"}))} },
	},
}

func editCard(edit func(object) object) func(*answer) {
	return func(out *answer) { out.body = edit(out.body.(object)) }
}

func offerPush(o object) object {
	c, _ := o.get("capabilities")
	return o.with("capabilities", c.(object).with("pushNotifications", true))
}
