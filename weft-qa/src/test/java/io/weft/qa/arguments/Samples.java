// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.arguments;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Creates arguments of almost any type: a given object, a plain value of a JDK type, a constant of
/// an enum, an object from a constructor or static method with further samples as arguments, or an
/// interface whose methods return nothing.
final class Samples {

  private static final int MOST_DEPTH = 5;

  private final Map<Class<?>, Object> given = new HashMap<>();
  private final Map<Class<?>, Optional<Object>> made = new HashMap<>();

  /// @param directory the directory for files that the objects write
  Samples(Path directory) {
    give(String.class, "sample");
    give(CharSequence.class, "sample");
    give(Object.class, "sample");
    give(Duration.class, Duration.ofMillis(50));
    give(Path.class, directory);
    give(MemorySegment.class, Arena.ofAuto().allocate(64, 64));
    give(Arena.class, Arena.ofAuto());
    give(Properties.class, new Properties());
    give(List.class, List.of());
    give(Collection.class, List.of());
    give(Iterable.class, List.of());
    give(Set.class, Set.of());
    give(Map.class, Map.of());
    give(Optional.class, Optional.empty());
    give(OptionalInt.class, OptionalInt.empty());
    give(OptionalLong.class, OptionalLong.empty());
    give(Throwable.class, new IllegalStateException("sample"));
    give(Class.class, Samples.class);
    give(Thread.class, Thread.ofPlatform().unstarted(() -> {}));
    for (Class<?> number : List.of(int.class, Integer.class)) {
      give(number, 1);
    }
    for (Class<?> number : List.of(long.class, Long.class)) {
      give(number, 1L);
    }
    give(short.class, (short) 1);
    give(byte.class, (byte) 1);
    give(char.class, 'x');
    give(float.class, 0.5f);
    give(double.class, 0.5);
    give(boolean.class, true);
  }

  void give(Class<?> type, Object object) {
    given.put(type, object);
  }

  /// Returns an object of this type, or an empty value if none can be created.
  Optional<Object> of(Class<?> type) {
    return of(type, 0);
  }

  /// Closes the created objects, but not the given ones.
  void close() throws Exception {
    for (Optional<Object> sample : made.values()) {
      if (sample.isPresent() && sample.get() instanceof AutoCloseable open) {
        open.close();
      }
    }
  }

  /// Returns whether the object is an interface whose methods do nothing.
  static boolean isIdle(Object object) {
    return Proxy.isProxyClass(object.getClass());
  }

  private Optional<Object> of(Class<?> type, int depth) {
    Object known = given.get(type);
    if (known != null) {
      return Optional.of(known);
    }
    Optional<Object> before = made.get(type);
    if (before != null) {
      return before;
    }
    if (depth > MOST_DEPTH) {
      return Optional.empty();
    }
    Optional<Object> sample = make(type, depth);
    if (sample.isPresent() || depth == 0) {
      made.put(type, sample);
    }
    return sample;
  }

  private Optional<Object> make(Class<?> type, int depth) {
    if (type.isArray()) {
      return Optional.of(Array.newInstance(type.getComponentType(), 16));
    }
    if (type.isEnum()) {
      return Arrays.stream(type.getEnumConstants()).map(Object.class::cast).findFirst();
    }
    if (type.isSealed()) {
      return Arrays.stream(type.getPermittedSubclasses())
          .map(permitted -> of(permitted, depth + 1))
          .flatMap(Optional::stream)
          .findFirst();
    }
    if (type.isInterface()) {
      return Optional.of(idle(type));
    }
    return Arrays.stream(type.getConstructors())
        .sorted(Comparator.comparingInt(Constructor::getParameterCount))
        .map(constructor -> called(constructor, null, depth))
        .flatMap(Optional::stream)
        .findFirst()
        .or(() -> byFactory(type, depth));
  }

  private Optional<Object> byFactory(Class<?> type, int depth) {
    return Arrays.stream(type.getMethods())
        .filter(method -> Modifier.isStatic(method.getModifiers()))
        .filter(method -> method.getReturnType() == type)
        .sorted(Comparator.comparingInt(Method::getParameterCount).thenComparing(Method::getName))
        .map(method -> called(method, null, depth))
        .flatMap(Optional::stream)
        .findFirst();
  }

  private Optional<Object> called(Executable executable, @Nullable Object on, int depth) {
    Optional<@Nullable Object[]> arguments = arguments(executable, depth + 1);
    if (arguments.isEmpty() || Modifier.isAbstract(executable.getDeclaringClass().getModifiers())) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(
          executable instanceof Method method
              ? method.invoke(on, arguments.get())
              : ((Constructor<?>) executable).newInstance(arguments.get()));
    } catch (ReflectiveOperationException | RuntimeException refused) {
      return Optional.empty();
    }
  }

  /// Returns arguments for the method or constructor, or an empty value if some cannot be created.
  Optional<@Nullable Object[]> arguments(Executable executable) {
    return arguments(executable, 0);
  }

  private Optional<@Nullable Object[]> arguments(Executable executable, int depth) {
    Class<?>[] types = executable.getParameterTypes();
    @Nullable Object[] arguments = new Object[types.length];
    for (int i = 0; i < types.length; i++) {
      Optional<Object> sample = of(types[i], depth);
      if (sample.isEmpty()) {
        return Optional.empty();
      }
      arguments[i] = sample.get();
    }
    return Optional.of(arguments);
  }

  private static Object idle(Class<?> type) {
    InvocationHandler nothing =
        (self, method, arguments) -> {
          if (method.isDefault()) {
            return InvocationHandler.invokeDefault(self, method, arguments);
          }
          Class<?> returned = method.getReturnType();
          return switch (method.getName()) {
            case "equals" -> self == arguments[0];
            case "hashCode" -> System.identityHashCode(self);
            case "toString" -> "idle " + type.getSimpleName();
            default ->
                returned.isPrimitive() && returned != void.class
                    ? Array.get(Array.newInstance(returned, 1), 0)
                    : null;
          };
        };
    return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, nothing);
  }
}
