// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rule;

/// A program's own update rule. Every rank passes it to `UpdateRules.register`, because the servers
/// apply the rule and the workers ask for its properties. A table then uses it by name, such as
/// `TableSpec.withRule("signum:lr=0.01")`. Stateless; any thread.
public interface UpdateRuleProvider {

  /// Returns the name of the rule: letters, digits and hyphens.
  String name();

  /// Returns the rule with these parameters. `parameters` refuses those that the provider does not
  /// read. Throws `IllegalArgumentException` for a value that is not allowed.
  UpdateRule create(RuleParameters parameters);
}
