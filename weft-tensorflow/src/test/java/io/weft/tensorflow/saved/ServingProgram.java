// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.SavedModelBundle;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.TensorFlow;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// The program that serves a model, or restores a checkpoint into a separate graph, with TensorFlow
/// Java only. The model computes `3 x + 2`. The checkpoint has `slope` and `offset`.
final class ServingProgram {

  private ServingProgram() {}

  public static void main(String[] args) {
    try {
      Class.forName("io.weft.Weft");
      System.out.println("Weft is on the class path");
    } catch (ClassNotFoundException e) {
      System.out.println("TensorFlow " + TensorFlow.version() + " without Weft");
    }
    if (args[0].equals("model")) {
      serve(args[1]);
    } else {
      restore(args[1]);
    }
  }

  private static void serve(String directory) {
    try (SavedModelBundle model = SavedModelBundle.load(directory);
        TFloat32 x = TFloat32.tensorOf(Shape.of(1), data -> data.setFloat(5, 0));
        Result result = model.function("serving_default").call(Map.<String, Tensor>of("x", x))) {
      System.out.println("y " + ((TFloat32) result.get("y").orElseThrow()).getFloat(0));
      model
          .graph()
          .operations()
          .forEachRemaining(op -> System.out.println("op " + op.type() + " " + op.name()));
    }
  }

  private static void restore(String prefix) {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var slope = tf.withName("slope").variable(Shape.scalar(), TFloat32.class);
      var offset = tf.withName("offset").variable(Shape.scalar(), TFloat32.class);
      try (Session session = new Session(graph)) {
        session.restore(prefix);
        try (Result result = session.runner().fetch(slope).fetch(offset).run()) {
          System.out.println(
              "slope "
                  + ((TFloat32) result.get(0)).getFloat()
                  + " offset "
                  + ((TFloat32) result.get(1)).getFloat());
        }
      }
    }
  }
}
