Feature: auth/required names what is wanted in a way that a client can act on
  The notification is all that a client gets when a token is wanted outside of an answer. What it names must be what
  authenticate takes.

  Background:
    Given a client "A" that watches the root

  @AHP-AUTH-016 @must
  Scenario: auth/required is complete
    Given an agent that requires a token
    When the client creates a session with the agent
    Then each auth/required names a channel, a resource and a reason of its own kind

  @AHP-AUTH-025 @must @until-0.8.0
  Scenario: auth/required gives the identifier of the resource
    Given an agent that requires a token
    When the client creates a session with the agent
    Then each auth/required gives the resource as its identifier

  @AHP-AUTH-101 @must @since-0.8.0
  Scenario: auth/required gives the metadata of the resource
    Given an agent that requires a token
    When the client creates a session with the agent
    Then each auth/required gives the resource with its metadata, as it is advertised

  @AHP-AUTH-018 @must
  Scenario: What auth/required names can be authenticated
    Given an agent that requires a token, and a good one for it
    When the client creates a session with the agent
    Then a good token for the resource that auth/required names is accepted
