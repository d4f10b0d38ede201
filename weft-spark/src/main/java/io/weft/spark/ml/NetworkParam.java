// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import io.weft.spark.model.ModelFactory;
import java.io.Serial;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.util.regex.Pattern;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.Identifiable;

/// The estimator's parameter that holds the factory, saved as class and settings.
final class NetworkParam extends Param<ModelFactory> {

  @Serial private static final long serialVersionUID = 1L;
  private static final Pattern SETTINGS = Pattern.compile("[A-Za-z0-9 .,:=_-]*");

  NetworkParam(Identifiable parent) {
    super(parent, "network", "makes the model that is trained");
  }

  @Override
  public String jsonEncode(ModelFactory factory) {
    return '"' + text(factory) + '"';
  }

  /// Returns class and settings of a factory. Throws `UnsupportedOperationException` if they do not
  /// suffice to make it again.
  static String text(ModelFactory factory) {
    Class<?> type = factory.getClass();
    String settings = factory.settings();
    if (!isMade(type, settings) || !SETTINGS.matcher(settings).matches()) {
      throw new UnsupportedOperationException(
          "the factory %s cannot be saved, because it needs to be a public class with a public constructor without parameters, or with one String for its settings; a fitted network of TensorFlow can be saved without it"
              .formatted(type.getName()));
    }
    return type.getName() + "|" + settings;
  }

  /// Returns whether a public constructor makes an equal factory.
  private static boolean isMade(Class<?> type, String settings) {
    try {
      Constructor<?> found =
          settings.isEmpty() ? type.getConstructor() : type.getConstructor(String.class);
      return Modifier.isPublic(found.getModifiers()) && Modifier.isPublic(type.getModifiers());
    } catch (NoSuchMethodException none) {
      return false;
    }
  }

  @Override
  public ModelFactory jsonDecode(String json) {
    return factory(json.substring(1, json.length() - 1));
  }

  /// Makes the factory of a text that `text` returned.
  static ModelFactory factory(String text) {
    int bar = text.indexOf('|');
    String settings = text.substring(bar + 1);
    try {
      Class<?> type =
          Class.forName(
              text.substring(0, bar), false, Thread.currentThread().getContextClassLoader());
      Constructor<? extends ModelFactory> constructor =
          settings.isEmpty()
              ? type.asSubclass(ModelFactory.class).getConstructor()
              : type.asSubclass(ModelFactory.class).getConstructor(String.class);
      return settings.isEmpty() ? constructor.newInstance() : constructor.newInstance(settings);
    } catch (ReflectiveOperationException | RuntimeException unusable) {
      throw new IllegalArgumentException(
          "the saved factory '" + text + "' cannot be made: " + unusable, unusable);
    }
  }
}
