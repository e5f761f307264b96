Feature: A refused token is said to be refused, and does no harm
  A host that takes any token leaves the user wondering why nothing works. One that forgets a good token because of a
  bad one signs the user out.

  Background:
    Given a client "A" that watches nothing

  @AHP-AUTH-003 @must
  Scenario: A token for a resource that nobody advertised is refused
    When a token for a resource that nobody advertised is pushed
    Then the push is refused with an error

  @AHP-AUTH-004 @must
  Scenario: A token that the service of an agent refuses is refused
    Given an agent that requires a token, and one that its service refuses
    When the client pushes the refused token for the agent
    Then the push is refused with an error

  @AHP-AUTH-008 @must
  Scenario: Whatever is refused with AuthRequired, the answer says for what
    When the client lets itself be refused for want of authentication
    Then each AuthRequired answer lists the resources to authenticate for

  @AHP-AUTH-013 @must
  Scenario: A token that was refused is not sent back
    Given a token for a resource that nobody advertised has been refused
    When another client looks at the root
    Then the token is in nothing that the host has sent

  @AHP-AUTH-021 @must
  Scenario: A refused push leaves an accepted token as it is
    Given an agent that requires a token, and a good one for it
    And the client has authenticated for the agent
    And a token for a resource that nobody advertised has been refused
    When the client creates a session with the agent
    Then the session is created
