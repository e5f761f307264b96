Feature: Every request gets one answer, its own
  A client keeps a slot for each request. An answer that never comes, comes twice, or carries another id leaves that
  slot open for ever.

  Background:
    Given a session with one chat

  @AHP-RPC-001 @must
  Scenario Outline: A request for <what> is answered, once
    When client "A" requests <what>
    Then the request is answered exactly once

    Examples:
      | what                                         |
      | ping                                         |
      | the list of sessions                         |
      | a method that does not exist                 |
      | a subscription to a number                   |
      | a subscription with text in place of params  |
      | dispatchAction                               |
      | unsubscribe                                  |

  @AHP-RPC-022 @must
  Scenario Outline: The id <id> comes back as it was
    When client "A" pings with the id <id>
    Then the answer carries the id of the request, unchanged

    Examples:
      | id               |
      | 0                |
      | 2147483648       |
      | 9007199254740991 |

  @AHP-RPC-007 @must
  Scenario: An unknown method is refused by name
    When client "A" requests a method that does not exist
    Then the request is refused with the code -32601

  @AHP-RPC-010 @must
  Scenario Outline: A request for <what> is refused
    When client "A" requests <what>
    Then the request is refused

    Examples:
      | what                           |
      | a subscription without a channel |
      | a subscription to a number     |
      | a session without a channel    |
      | a session at a number          |
      | the disposal of a number       |

  @AHP-RPC-024 @should
  Scenario Outline: The code for <what> is that of invalid params
    When client "A" requests <what>
    Then the request is refused with the code -32602

    Examples:
      | what                             |
      | a subscription without a channel |
      | a subscription to a number       |
      | a session at a number            |

  @AHP-RPC-013 @should
  Scenario: A command of the root is not carried out for another channel
    When client "A" requests the list of sessions on the session
    Then the request is refused

  @AHP-RPC-014 @must
  Scenario Outline: A request for <what>, with an unknown member, succeeds
    When client "A" requests <what>, with an unknown member
    Then the request succeeds

    Examples:
      | what                          |
      | the list of sessions          |
      | a subscription to the session |
      | a new session                 |
