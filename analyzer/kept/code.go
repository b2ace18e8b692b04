package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
const code = "70330c8a7bebd91f"
