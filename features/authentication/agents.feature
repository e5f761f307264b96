Feature: An agent that requires a token says so and takes one
  Clients sign in for an agent before they use it, or when they are told to. What the host advertises, refuses and
  accepts has to fit together, or the user signs in and is refused all the same.

  Background:
    Given a client "A" that watches nothing

  @AHP-AUTH-012 @must
  Scenario: What agents say of their resources uses the names of RFC 9728
    Given an agent that requires a token
    When another client looks at the root
    Then the metadata of every agent's resources use the names of RFC 9728

  @AHP-AUTH-007 @should
  Scenario: Using an agent without the token that it requires fails with AuthRequired
    Given an agent that requires a token
    When the client creates a session with the agent
    Then the session is refused with AuthRequired, unless it is created

  @AHP-AUTH-011 @must
  Scenario: An agent that lists no protected resource asks for no token
    Given an agent that requires no token
    When the client creates a session with the agent
    Then the session is not refused for want of a token

  @AHP-AUTH-001 @AHP-AUTH-002 @must
  Scenario: A good token for the resource of an agent is accepted
    Given an agent that requires a token, and a good one for it
    When the client pushes the good token for the agent
    Then the push is answered with an empty object

  @AHP-AUTH-005 @must
  Scenario: A token is accepted with the scopes that it grants
    Given an agent that requires a token, and a good one for it
    When the client pushes the good token for the agent, with its scopes
    Then the push is answered with an empty object

  @AHP-AUTH-005 @must
  Scenario: A token is accepted without the scopes that it grants
    Given an agent that requires a token, and a good one for it
    When the client pushes the good token for the agent
    Then the push succeeds

  @AHP-AUTH-015 @must
  Scenario: A token may be pushed anew at any time
    Given an agent that requires a token, and a good one for it
    And the client has authenticated for the agent
    When the client pushes the good token for the agent
    Then the push is answered with an empty object

  @AHP-AUTH-009 @must
  Scenario: Who signs in for what a refusal names is refused no longer
    Given an agent that requires a token, and a good one for it
    And the client was refused a session with the agent for want of a token
    And the client has authenticated for what the refusal names
    When the client creates a session with the agent
    Then the session is created

  @AHP-AUTH-014 @must
  Scenario: That a client has authenticated is nobody else's business
    Given an agent that requires a token, and a good one for it
    And the agents are as the root lists them now
    When the client pushes the good token for the agent
    Then the push succeeds
    And the root lists the agents as before
