package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "96bcd5d7ad66d38f"
