// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import java.io.Serial;
import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.util.regex.Pattern;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.util.Identifiable;

/// The estimator's parameter that holds the factory, saved as class and settings.
final class NetworkParam extends Param<NetworkFactory> {

  @Serial private static final long serialVersionUID = 1L;
  private static final Pattern SETTINGS = Pattern.compile("[A-Za-z0-9 .,:=_-]*");

  NetworkParam(Identifiable parent) {
    super(parent, "network", "builds the network that is trained");
  }

  @Override
  public String jsonEncode(NetworkFactory factory) {
    Class<?> type = factory.getClass();
    String settings = factory.settings();
    if (!isMade(type, settings) || !SETTINGS.matcher(settings).matches()) {
      throw new UnsupportedOperationException(
          "the estimator cannot be saved, because its network %s needs to be a public class with a public constructor without parameters, or with one String for its settings; a fitted model can be saved"
              .formatted(type.getName()));
    }
    return "\"" + type.getName() + "|" + settings + "\"";
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
  public NetworkFactory jsonDecode(String json) {
    String text = json.substring(1, json.length() - 1);
    int bar = text.indexOf('|');
    String settings = text.substring(bar + 1);
    try {
      Class<?> type =
          Class.forName(
              text.substring(0, bar), false, Thread.currentThread().getContextClassLoader());
      Constructor<? extends NetworkFactory> constructor =
          settings.isEmpty()
              ? type.asSubclass(NetworkFactory.class).getConstructor()
              : type.asSubclass(NetworkFactory.class).getConstructor(String.class);
      return settings.isEmpty() ? constructor.newInstance() : constructor.newInstance(settings);
    } catch (ReflectiveOperationException | RuntimeException unusable) {
      throw new IllegalArgumentException(
          "the saved estimator's network '" + text + "' cannot be made: " + unusable, unusable);
    }
  }
}
