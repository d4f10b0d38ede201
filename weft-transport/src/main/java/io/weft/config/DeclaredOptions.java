// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The declarations of all parts of Weft that are present. They are sorted by the class names of
/// their providers, so that help texts do not depend on the order of the class path. The class
/// loader of this class finds the providers, so that the result does not depend on the first
/// calling thread.
///
/// @param providers one for each part
record DeclaredOptions(
    List<OptionProvider> providers,
    List<ConfigOption<?>> options,
    Set<String> variables,
    Map<String, String> ignored) {

  static final DeclaredOptions THESE =
      of(
          PresentProviders.of(
              ServiceLoader.load(OptionProvider.class, OptionProvider.class.getClassLoader())));

  private static DeclaredOptions of(List<OptionProvider> found) {
    List<OptionProvider> providers =
        found.stream().sorted(Comparator.comparing(part -> part.getClass().getName())).toList();
    List<ConfigOption<?>> options =
        providers.stream().<ConfigOption<?>>flatMap(part -> part.options().stream()).toList();
    Set<String> variables =
        Stream.concat(
                options.stream().map(ConfigOption::variable),
                providers.stream().flatMap(part -> part.variables().stream()))
            .collect(Collectors.toUnmodifiableSet());
    Map<String, String> ignored = new TreeMap<>();
    providers.forEach(part -> ignored.putAll(part.ignoredVariables()));
    return new DeclaredOptions(providers, options, variables, ignored);
  }

  void check(Settings settings) {
    providers.forEach(part -> part.check(settings));
  }
}
