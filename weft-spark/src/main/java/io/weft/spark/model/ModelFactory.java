// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.model;

import io.weft.Weft;
import java.io.IOException;
import java.io.Serializable;
import java.util.Map;

/// Makes the models that the ranks train. Spark sends the factory to the executors, where each rank
/// calls `create` once. All ranks must make equal models.
///
/// An estimator can be saved if its factory is a public class with a public constructor without
/// parameters, or if `settings` is not empty and the class has a public constructor with a single
/// `String`, to which these settings are passed.
public interface ModelFactory extends Serializable {

  /// Returns a new model of this rank, with initial values, which the caller closes. Collective.
  ///
  /// @param weft the rank's membership in the job; borrowed until the model is closed
  TrainableModel create(Weft weft, ModelInput input) throws IOException, InterruptedException;

  /// Returns the trained model with the contents of these files, from `TrainedModel.files`.
  TrainedModel trained(Map<String, byte[]> files);

  /// Returns the text from which a constructor creates an equal factory, of letters, digits, spaces
  /// and `.,:=_-`; empty by default.
  default String settings() {
    return "";
  }
}
