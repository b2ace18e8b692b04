package kept

// code stands for the code that judges. TestCode says when it has to be another, and writes it.
<<<<<<< HEAD
const code = "99cc59f5c50cd64d"
=======
const code = "17781810f16ef828"
>>>>>>> main
